// The chain: however many awaits, one after another or inside each other, the stack stays flat and
// a wake costs one poll of one leaf. In every build mode of both compilers.
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/base/internal/block_pool.hpp"
#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"

namespace rouse {

using namespace internal;
namespace {

using test::Life;
using test::Lives;
using test::poll_once;
using testing::Gate;
using testing::PollHarness;

constexpr int sequential = 1'000'000;
constexpr int nested = 100'000;

Async<int> one() { co_return 1; }
Async<int> add_children(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += co_await one();
  co_return sum;
}

TEST(Chain, AMillionChildrenOneAfterAnother) {
  auto future = add_children(sequential);
  EXPECT_EQ(poll_once(future).value(), sequential);
}

Async<int> add_ready_leaves(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += co_await test::ReadyAfter<int>(0, 1);
  co_return sum;
}

TEST(Chain, AMillionReadyLeavesOneAfterAnother) {
  auto future = add_ready_leaves(sequential);
  EXPECT_EQ(poll_once(future).value(), sequential);
}

Async<int> throw_one() {
  throw 1;
  co_return 0;
}
Async<int> catch_children(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    try {
      (void)co_await throw_one();
    } catch (int value) {
      sum += value;
    }
  }
  co_return sum;
}

TEST(Chain, TenThousandThrowingChildrenOneAfterAnother) {
  auto future = catch_children(10'000);
  EXPECT_EQ(poll_once(future).value(), 10'000);
}

Async<int> nest(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await nest(depth - 1);
}

TEST(Chain, AHundredThousandNestedAwaitsComplete) {
  auto future = nest(nested);
  EXPECT_EQ(poll_once(future).value(), nested);
}

Async<int> nest_on_gate(Gate<int>& gate, int depth, Life life) {
  const Life local(life);
  if (depth == 0) co_return co_await gate.wait();
  co_return 1 + co_await nest_on_gate(gate, depth - 1, life);
}

TEST(Chain, AHundredThousandNestedAwaitsSuspendAndComplete) {
  Lives lives;
  Gate<int> gate;
  {
    PollHarness h(nest_on_gate(gate, nested, Life(lives)));
    EXPECT_TRUE(h.poll().is_pending());
    EXPECT_TRUE(h.kept_waker());
    gate.open(7);
    EXPECT_EQ(h.poll().value(), nested + 7);
  }
  EXPECT_EQ(lives.alive(), 0);
}

TEST(Chain, AHundredThousandNestedAwaitsSuspendAndAreDestroyed) {
  Lives lives;
  Gate<int> gate;
  {
    auto future = nest_on_gate(gate, nested, Life(lives));
    EXPECT_TRUE(poll_once(future).is_pending());
    EXPECT_GT(lives.alive(), nested);
  }
  EXPECT_EQ(lives.alive(), 0);
}

TEST(Chain, AnExceptionTravelsThroughAHundredThousandNestedAwaits) {
  Lives lives;
  Gate<int> gate;
  {
    auto future = nest_on_gate(gate, nested, Life(lives));
    EXPECT_TRUE(poll_once(future).is_pending());
    gate.fail(std::make_exception_ptr(std::runtime_error("from below")));
    EXPECT_THROW((void)poll_once(future), std::runtime_error);
  }
  EXPECT_EQ(lives.alive(), 0);
}

Async<int> throw_at_depth(int depth) {
  if (depth == 0) throw std::runtime_error("from below");
  co_return co_await throw_at_depth(depth - 1);
}

TEST(Chain, AnExceptionTravelsThroughAHundredThousandAwaitsThatNeverSuspended) {
  auto future = throw_at_depth(nested);
  EXPECT_THROW((void)poll_once(future), std::runtime_error);
}

Async<int> adopt(Async<int> started) { co_return 1 + co_await started; }

/// Polls a coroutine, has it awaited by another, polls that, and so on: each adopts a started
/// chain.
Async<int> adopt_repeatedly(int count, Gate<int>& gate, Life life) {
  auto future = nest_on_gate(gate, 0, life);
  for (int i = 0; i < count; ++i) {
    EXPECT_TRUE(poll_once(future).is_pending());
    future = adopt(std::move(future));
  }
  EXPECT_TRUE(poll_once(future).is_pending());
  return future;
}

TEST(Chain, ChainsThatAdoptEachOtherComplete) {
  // Not as many as below: a finished frame gives its parameters, here its child, back when it is
  // destroyed itself, one inside the other.
  constexpr int count = 1000;
  Lives lives;
  Gate<int> gate;
  {
    auto future = adopt_repeatedly(count, gate, Life(lives));
    gate.open(0);
    EXPECT_EQ(poll_once(future).value(), count);
  }
  EXPECT_EQ(lives.alive(), 0);
}

TEST(Chain, AHundredThousandChainsThatAdoptEachOtherAreDestroyed) {
  Lives lives;
  Gate<int> gate;
  {
    [[maybe_unused]] auto future = adopt_repeatedly(nested, gate, Life(lives));
    EXPECT_EQ(gate.polls(), static_cast<std::size_t>(nested) + 1);
  }
  EXPECT_EQ(lives.alive(), 0);
}

TEST(Chain, AWakePollsOneLeafOnceHoweverDeepTheChain) {
  Lives lives;
  Gate<int> gate;
  PollHarness h(nest_on_gate(gate, 1000, Life(lives)));
  EXPECT_TRUE(h.poll().is_pending());
  EXPECT_EQ(gate.polls(), 1u);
  for (std::size_t i = 2; i < 10; ++i) {
    EXPECT_TRUE(h.poll().is_pending());
    EXPECT_EQ(gate.polls(), i);
  }
  const int made = lives.made;
  gate.open(1);
  EXPECT_EQ(gate.polls(), 9u);  // a wake alone polls nothing
  EXPECT_EQ(h.poll().value(), 1001);
  EXPECT_EQ(gate.polls(), 10u);
  EXPECT_EQ(lives.made, made);  // no coroutine began anew
}

TEST(Chain, ThePriceOfAPollDoesNotDependOnTheDepth) {
  // Were it proportional to the depth, these would be 10^10 steps: it would time out.
  Lives lives;
  Gate<int> gate;
  PollHarness h(nest_on_gate(gate, nested, Life(lives)));
  for (int i = 0; i < nested; ++i) ASSERT_TRUE(h.poll().is_pending());
  EXPECT_EQ(gate.polls(), static_cast<std::size_t>(nested));
}

TEST(Chain, AMillionCoroutinesMadeAndDestroyedReuseTheirFrames) {
  if (address_sanitizer) GTEST_SKIP() << "the pool is bypassed under AddressSanitizer";
  int ready = 0;
  for (int i = 0; i < 1000; ++i) {
    auto future = one();
    ready += poll_once(future).is_ready();
  }
  const std::size_t before = block_pool_bytes();
  for (int i = 0; i < sequential; ++i) {
    auto future = one();
    ready += poll_once(future).is_ready();
  }
  EXPECT_EQ(block_pool_bytes(), before);
  EXPECT_GT(before, 0u);
  EXPECT_EQ(ready, sequential + 1000);
}

TEST(Chain, DeepChainsReuseTheirFrames) {
  if (address_sanitizer) GTEST_SKIP() << "the pool is bypassed under AddressSanitizer";
  const auto run = [] {
    auto future = nest(nested);
    return poll_once(future).value();
  };
  EXPECT_EQ(run(), nested);
  const std::size_t before = block_pool_bytes();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(run(), nested);
  EXPECT_EQ(block_pool_bytes(), before);
}

constexpr int wrappers = 1'000'000;

Async<int> wrap(Async<int> inner, Life) { co_return co_await inner; }
Async<int> wrap_any(AnyFuture<int> inner) { co_return co_await inner; }

Async<int> wrapped(int times, Lives& lives) {
  Async<int> future = one();
  for (int i = 0; i < times; ++i) future = wrap(std::move(future), Life(lives));
  return future;
}

TEST(Chain, AMillionWrappersThatWereNeverBegunAreDestroyed) {
  Lives lives;
  {
    [[maybe_unused]] const auto future = wrapped(wrappers, lives);
    EXPECT_EQ(lives.alive(), wrappers);
  }
  EXPECT_EQ(lives.alive(), 0);
  AnyFuture<int> erased = one();
  for (int i = 0; i < wrappers; ++i) erased = wrap_any(std::move(erased));
}

TEST(Chain, AMillionWrappersThatEndedAreDestroyed) {
  Lives lives;
  auto future = wrapped(wrappers, lives);
  EXPECT_EQ(poll_once(future).value(), 1);
  EXPECT_EQ(lives.alive(), 1);  // the outermost: the others went when they were awaited
}

/// Says when it ends.
class NotesItsEnd {
 public:
  NotesItsEnd(int number, std::vector<int>& ended) : number_(number), ended_(&ended) {}
  NotesItsEnd(NotesItsEnd&& other) noexcept
      : number_(other.number_), ended_(std::exchange(other.ended_, nullptr)) {}
  NotesItsEnd& operator=(NotesItsEnd&&) = delete;
  ~NotesItsEnd() {
    if (ended_ != nullptr) ended_->push_back(number_);
  }

 private:
  int number_;
  std::vector<int>* ended_;
};
Async<void> holds(NotesItsEnd) { co_return; }
Async<void> holds_two(NotesItsEnd, Async<void> first, Async<void> second) {
  co_await first;
  co_await second;
}
Async<void> holds_one(Async<void> inner) { co_await inner; }

TEST(Chain, WrappersThatWereNeverBegunEndInTheSameOrderHoweverDeepTheyAre) {
  std::vector<int> seen_first;
  for (const int depth : {0, 100, 254, 255, 256, 300, 1000}) {
    std::vector<int> ended;
    {
      Async<void> pair = holds_two(NotesItsEnd(0, ended), holds(NotesItsEnd(1, ended)),
                                   holds(NotesItsEnd(2, ended)));
      for (int i = 0; i < depth; ++i) pair = holds_one(std::move(pair));
    }
    EXPECT_EQ(ended.size(), 3U);
    if (depth == 0) seen_first = ended;
    std::vector<int> expected = seen_first;
    if (depth >= 255) {  // from there on a coroutine ends right after the one whose parameter it is
      std::erase(expected, 0);
      expected.insert(expected.begin(), 0);
    }
    EXPECT_EQ(ended, expected) << depth;
  }
}

}  // namespace
}  // namespace rouse
