#include "rouse/sync/rw_lock.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "support/sanitizer.hpp"
#include "sync/executors.hpp"
#include "sync/reentrant_waker.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::sync::MaxReaders;
using rouse::sync::ReadGuard;
using rouse::sync::RwLock;
using rouse::sync::WriteGuard;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

static_assert(std::is_same_v<decltype(*std::declval<ReadGuard<int>&>()), const int&>);
static_assert(sizeof(decltype(std::declval<RwLock<int>&>().write())) == 48);

TEST(RwLock, ManyReadOrOneWrites) {
  RwLock<int> lock(7);
  {
    auto one = lock.try_read();
    auto two = lock.try_read();
    ASSERT_TRUE(one && two);
    EXPECT_EQ(**one + **two, 14);
    EXPECT_FALSE(lock.try_write());
  }
  auto writing = lock.try_write();
  ASSERT_TRUE(writing);
  **writing = 8;
  EXPECT_FALSE(lock.try_read() || lock.try_write());
  writing->unlock();
  EXPECT_EQ(**lock.try_read(), 8);
}

TEST(RwLock, AReaderWaitsBehindAWriterThatWaits) {
  RwLock<int> lock(0);
  auto reading = lock.try_read();
  PollHarness writer(lock.write());
  PollHarness reader(lock.read());
  PollHarness another(lock.read());
  EXPECT_TRUE(writer.poll().is_pending());
  EXPECT_TRUE(reader.poll().is_pending()) << "or writers would starve";
  EXPECT_TRUE(another.poll().is_pending());
  EXPECT_FALSE(lock.try_read());
  reading.reset();
  EXPECT_TRUE(writer.is_woken());
  EXPECT_FALSE(reader.is_woken());
  {
    auto writing = writer.poll();
    ASSERT_TRUE(writing.is_ready());
  }
  EXPECT_TRUE(reader.is_woken() && another.is_woken()) << "readers go together";
  auto first = reader.poll();
  auto second = another.poll();
  EXPECT_TRUE(first.is_ready() && second.is_ready());
}

TEST(RwLock, AFreeLockMayBeTakenByAWriterBeforeTheWokenOneComesButNotByAReader) {
  RwLock<int> lock(0);
  auto held = lock.try_read();
  PollHarness writer(lock.write());
  EXPECT_TRUE(writer.poll().is_pending());
  held.reset();
  EXPECT_TRUE(writer.is_woken());
  EXPECT_FALSE(lock.try_read());
  PollHarness reader(lock.read());
  EXPECT_TRUE(reader.poll().is_pending());
  auto writing = lock.try_write();
  ASSERT_TRUE(writing);
  EXPECT_TRUE(writer.poll().is_pending());
  writing.reset();
  EXPECT_TRUE(writer.is_woken());
  EXPECT_FALSE(reader.is_woken());
  {
    const auto guard = writer.poll();
    EXPECT_TRUE(guard.is_ready());
  }
  EXPECT_TRUE(reader.is_woken() && reader.poll().is_ready());
}

TEST(RwLock, ReadersBehindAWokenWriterThatIsDroppedGoOnTogether) {
  RwLock<int> lock(0);
  auto held = lock.try_write();
  std::optional<PollHarness<decltype(lock.write())>> writer(std::in_place, lock.write());
  PollHarness reader(lock.read());
  PollHarness another(lock.read());
  EXPECT_TRUE(writer->poll().is_pending());
  EXPECT_TRUE(reader.poll().is_pending() && another.poll().is_pending());
  held.reset();
  EXPECT_TRUE(writer->is_woken());
  writer.reset();
  EXPECT_TRUE(reader.is_woken() && another.is_woken());
  auto first = reader.poll();
  auto second = another.poll();
  EXPECT_TRUE(first.is_ready() && second.is_ready());
  EXPECT_FALSE(lock.try_write());
}

TEST(RwLock, WhenAWriterLeavesTheReadersBehindItGoOn) {
  RwLock<int> lock(0);
  auto reading = lock.try_read();
  std::optional<PollHarness<decltype(lock.write())>> writer(std::in_place, lock.write());
  PollHarness reader(lock.read());
  EXPECT_TRUE(writer->poll().is_pending());
  EXPECT_TRUE(reader.poll().is_pending());
  writer.reset();
  EXPECT_TRUE(reader.is_woken() && reader.poll().is_ready());
}

TEST(RwLock, DowngradedAWriterGoesOnReadingAndNoWriterComesBetween) {
  RwLock<int> lock(0);
  auto writing = lock.try_write();
  PollHarness reader(lock.read());
  PollHarness writer(lock.write());
  EXPECT_TRUE(reader.poll().is_pending());
  EXPECT_TRUE(writer.poll().is_pending());
  **writing = 5;
  std::optional<ReadGuard<int>> reading(std::move(*writing).downgrade());
  EXPECT_EQ(**reading, 5);
  {
    auto together = reader.poll();
    ASSERT_TRUE(together.is_ready());
    EXPECT_EQ(*together.value(), 5);
  }
  EXPECT_TRUE(writer.poll().is_pending());
  reading.reset();
  EXPECT_TRUE(writer.poll().is_ready());
}

TEST(RwLock, MaxReadersIsABound) {
  RwLock<int> lock(MaxReaders(2), 1);
  auto one = lock.try_read();
  auto two = lock.try_read();
  EXPECT_TRUE(one && two);
  EXPECT_FALSE(lock.try_read());
  one.reset();
  two.reset();
  EXPECT_TRUE(lock.try_write());
}

TEST(RwLock, OwnedGuardsKeepTheLockAlive) {
  auto lock = std::make_shared<RwLock<int>>(3);
  const std::weak_ptr<RwLock<int>> watched = lock;
  {
    PollHarness reader(RwLock<int>::read_owned(lock));
    auto reading = reader.poll();
    EXPECT_TRUE(reading.is_ready());
    EXPECT_FALSE(RwLock<int>::try_write_owned(lock));
    lock.reset();
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

TEST(RwLock, FuturesDroppedAtEachPollStrandNothing) {
  RwLock<int> lock(0);
  std::optional<WriteGuard<int>> held;
  auto hold = [&] {
    held = lock.try_write();
    EXPECT_TRUE(held);
  };
  auto let_go = [&](std::size_t) { held.reset(); };
  auto is_free = [&](std::size_t k) {
    held.reset();
    EXPECT_TRUE(lock.try_write()) << k;
  };
  const auto reads = drop_at_each_poll([&] { return hold(), lock.read(); }, let_go, is_free);
  const auto writes = drop_at_each_poll([&] { return hold(), lock.write(); }, let_go, is_free);
  EXPECT_EQ(reads.polls, 2U);
  EXPECT_EQ(writes.polls, 2U);
  EXPECT_EQ(reads.wakers_left + writes.wakers_left, 0U);
}

TEST(RwLock, AWakerThatReEntersCausesNoDeadlock) {
  RwLock<int> lock(0);
  ReentrantWaker waker([&] {
    (void)lock.try_write();
    Context cx(Waker::noop());
    auto dropped = lock.read();
    (void)dropped.poll(cx);
  });
  auto held = lock.try_write();
  auto future = lock.read();
  Context cx(waker.waker());
  Context other(Waker::noop());
  EXPECT_TRUE(future.poll(cx).is_pending());
  EXPECT_TRUE(future.poll(other).is_pending());
  EXPECT_TRUE(future.poll(cx).is_pending());
  held.reset();
  EXPECT_TRUE(future.poll(cx).is_ready());
}

template <class Executor>
class RwLockOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(RwLockOn, AllExecutors, ExecutorNames);

struct Pair {
  long a = 0;
  long b = 0;
};
Async<void> write_pairs(RwLock<Pair>& lock, int times) {
  for (int i = 0; i < times; ++i) {
    auto writing = co_await lock.write();
    ++writing->a;
    co_await yield_now();
    ++writing->b;
  }
}
Async<void> read_pairs(RwLock<Pair>& lock, int times) {
  for (int i = 0; i < times; ++i) {
    auto reading = co_await lock.read();
    const long a = reading->a;
    co_await yield_now();
    EXPECT_EQ(a, reading->a);
    EXPECT_EQ(a, reading->b);
  }
}
TYPED_TEST(RwLockOn, ReadersNeverSeeHalfOfAWrite) {
  RwLock<Pair> lock;
  const int times = sanitized ? 100 : 1000;
  this->executor.spawn(write_pairs(lock, times));
  for (int i = 0; i < 4; ++i) this->executor.spawn(read_pairs(lock, times));
  this->executor.run(write_pairs(lock, times));
  EXPECT_EQ(lock.get_mut().a, 2 * times);
}

}  // namespace
