// Proof that join, try_join, select, race, map and and_then take no memory, and that join_all takes
// two blocks and its vector: every operator new of this program is counted, and the futures here
// are no coroutines.
#include <array>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "rouse/future/and_then.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/join_all.hpp"
#include "rouse/future/lazy.hpp"
#include "rouse/future/map.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/race.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/select.hpp"
#include "rouse/future/try_join.hpp"
#include "rouse/future/yield_now.hpp"

#include "future/helpers.hpp"

// Not under thread sanitizer, whose own operator new can't be replaced.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROUSE_TEST_THREAD_SANITIZER
#endif
#endif
#if !defined(ROUSE_TEST_THREAD_SANITIZER) && !defined(__SANITIZE_THREAD__)

namespace {
thread_local int allocations = 0;
}

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace rouse::test {

using namespace internal;
namespace {

/// Ready at its n-th poll.
class ReadyAtPoll {
 public:
  using Output = int;
  explicit ReadyAtPoll(int polls) : polls_(polls) {}
  Poll<int> poll(Context& cx) {
    if (--polls_ == 0) return Poll<int>::ready(1);
    cx.waker().wake_by_ref();
    return pending;
  }

 private:
  int polls_;
};

/// Allocations that making and running `make()` to its end costs, from the heap and for the pool.
template <class Make>
int allocations_of(Make make) {
  CountingWaker waker;
  const std::size_t pool_before = block_pool_bytes();
  const int before = allocations;
  {
    auto future = make();
    while (future.poll(waker.cx).is_pending()) {
    }
  }
  EXPECT_EQ(block_pool_bytes(), pool_before);
  return allocations - before;
}

TEST(NoAllocation, TheCounterCounts) {
  const int before = allocations;
  ::operator delete(::operator new(1));
  EXPECT_EQ(allocations, before + 1);
}

TEST(NoAllocation, JoinTakesNoMemory) {
  EXPECT_EQ(allocations_of([] { return join(ReadyAtPoll(1), ReadyAtPoll(3), yield_now()); }), 0);
}
TEST(NoAllocation, TryJoinTakesNoMemory) {
  EXPECT_EQ(allocations_of([] { return try_join(ReadyAtPoll(3), ready(Result<int>(1))); }), 0);
}
TEST(NoAllocation, SelectTakesNoMemory) {
  EXPECT_EQ(allocations_of([] { return select(pending_forever(), ReadyAtPoll(3)); }), 0);
}
TEST(NoAllocation, RaceTakesNoMemory) {
  EXPECT_EQ(allocations_of([] { return race(pending_forever<int>(), ReadyAtPoll(3)); }), 0);
}
TEST(NoAllocation, MapTakesNoMemory) {
  EXPECT_EQ(allocations_of([] { return map(ReadyAtPoll(3), [](int x) { return x + 1; }); }), 0);
}
TEST(NoAllocation, AndThenTakesNoMemory) {
  EXPECT_EQ(allocations_of(
                [] { return and_then(ReadyAtPoll(3), [](int x) { return ReadyAtPoll(x + 2); }); }),
            0);
}
TEST(NoAllocation, LazyTakesNoMemory) {
  EXPECT_EQ(allocations_of([] { return lazy([] { return 1; }); }), 0);
}
TEST(NoAllocation, JoinAllTakesTwoBlocksAndItsVector) {
  const std::array futures{ReadyAtPoll(1), ReadyAtPoll(4), ReadyAtPoll(2), ReadyAtPoll(3)};
  // Has the pool fetch its first chunk, where there is a pool.
  auto first = join_all(futures);
  const int from_heap = address_sanitizer ? 3 : 1;
  EXPECT_EQ(allocations_of([&] { return join_all(futures); }), from_heap);
}

}  // namespace
}  // namespace rouse::test

#endif
