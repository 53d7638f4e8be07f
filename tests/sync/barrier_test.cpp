#include "rouse/sync/barrier.hpp"

#include <atomic>
#include <cstddef>
#include <optional>
#include <type_traits>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"
#include "sync/executors.hpp"
#include "sync/reentrant_waker.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::sync::Barrier;
using rouse::testing::CountingWaker;
using rouse::testing::PollHarness;

static_assert(sizeof(Barrier::Wait) == 56);

TEST(Barrier, TheLastToArriveLeadsAndAllGoOn) {
  Barrier barrier(3);
  for (int round = 0; round < 2; ++round) {
    PollHarness first(barrier.wait());
    PollHarness second(barrier.wait());
    PollHarness third(barrier.wait());
    EXPECT_TRUE(first.poll().is_pending() && first.kept_waker());
    EXPECT_TRUE(second.poll().is_pending());
    EXPECT_TRUE(first.poll().is_pending()) << "a spurious poll does not arrive twice";
    EXPECT_TRUE(third.poll().value().is_leader());
    EXPECT_TRUE(first.is_woken() && second.is_woken());
    EXPECT_FALSE(first.poll().value().is_leader());
    EXPECT_FALSE(second.poll().value().is_leader());
  }
}

TEST(Barrier, ForOneOrNoneNobodyWaits) {
  Barrier one(1);
  Barrier none(0);
  EXPECT_TRUE(PollHarness(one.wait()).poll().value().is_leader());
  EXPECT_TRUE(PollHarness(none.wait()).poll().value().is_leader());
}

TEST(Barrier, WhoGivesUpHasNotArrived) {
  Barrier barrier(2);
  CountingWaker waker;
  {
    auto dropped = barrier.wait();
    Context cx(waker.waker());
    EXPECT_TRUE(dropped.poll(cx).is_pending());
  }
  EXPECT_EQ(waker.clones(), 0U);
  PollHarness first(barrier.wait());
  EXPECT_TRUE(first.poll().is_pending());
  EXPECT_TRUE(PollHarness(barrier.wait()).poll().is_ready());
  EXPECT_TRUE(first.poll().is_ready());
}

TEST(Barrier, WhoGivesUpAfterTheRoundIsOverTakesNothingFromTheNext) {
  Barrier barrier(2);
  std::optional<PollHarness<Barrier::Wait>> dropped(std::in_place, barrier.wait());
  EXPECT_TRUE(dropped->poll().is_pending());
  EXPECT_TRUE(PollHarness(barrier.wait()).poll().is_ready());
  PollHarness next(barrier.wait());
  EXPECT_TRUE(next.poll().is_pending());
  dropped.reset();
  EXPECT_TRUE(PollHarness(barrier.wait()).poll().value().is_leader());
  EXPECT_TRUE(next.poll().is_ready());
}

TEST(Barrier, TakesFromTheBudget) {
  Barrier barrier(1);
  CountingWaker waker;
  Context none(waker.waker(), 0);
  EXPECT_TRUE(barrier.wait().poll(none).is_pending());
  EXPECT_EQ(waker.count(), 1U);
}

TEST(Barrier, AWakerThatReEntersCausesNoDeadlock) {
  Barrier barrier(2);
  ReentrantWaker waker([&] {
    auto dropped = barrier.wait();
    (void)poll_once(dropped);
  });
  Context cx(waker.waker());
  for (int i = 0; i < 3; ++i) {
    auto wait = barrier.wait();
    bool ready = wait.poll(cx).is_ready();
    if (!ready) ready = poll_once(wait).is_ready();
    if (!ready) ready = wait.poll(cx).is_ready();
    if (i == 0) continue;
    auto other = barrier.wait();
    (void)other.poll(cx);
  }
  EXPECT_GT(waker.clones(), 0);
  EXPECT_GT(waker.drops(), 0);
}

template <class Executor>
class BarrierOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(BarrierOn, AllExecutors, ExecutorNames);

struct Counts {
  std::atomic<int> arrived{0};
  std::atomic<int> leaders{0};
};
Async<void> rounds(Barrier& barrier, Counts& counts, int tasks, int count) {
  for (int round = 1; round <= count; ++round) {
    ++counts.arrived;
    const auto result = co_await barrier.wait();
    if (result.is_leader()) ++counts.leaders;
    EXPECT_GE(counts.arrived, round * tasks) << "all have arrived";
  }
}
TYPED_TEST(BarrierOn, EveryRoundHasOneLeaderAndEndsWhenAllArrived) {
  Barrier barrier(4);
  Counts counts;
  for (int i = 0; i < 3; ++i) this->executor.spawn(rounds(barrier, counts, 4, 200));
  this->executor.run(rounds(barrier, counts, 4, 200));
  EXPECT_EQ(counts.leaders, 200);
  EXPECT_EQ(counts.arrived, 800);
}

}  // namespace
