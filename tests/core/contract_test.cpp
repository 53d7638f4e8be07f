// The six contracts of the poll model (docs/architecture.md), as far as core alone can show them.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"
#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"

namespace rouse {
namespace {

using test::Life;
using test::Lives;
using testing::CountingWaker;
using testing::Gate;
using testing::PollHarness;

Async<int> await_gate(Gate<int>& gate) { co_return co_await gate.wait(); }
Async<int> await_deeply(Gate<int>& gate) { co_return co_await await_gate(gate); }

TEST(Contract, APendingFutureWakesTheLatestWakerAndReplacesItOnlyIfItDiffers) {
  Gate<int> gate;
  const CountingWaker first;
  const CountingWaker second;
  auto future = await_deeply(gate);
  {
    Context cx(first.waker());
    EXPECT_TRUE(future.poll(cx).is_pending());
    EXPECT_TRUE(future.poll(cx).is_pending());
  }
  EXPECT_EQ(first.clones_made(), 1u);
  {
    Context cx(second.waker());
    EXPECT_TRUE(future.poll(cx).is_pending());
  }
  EXPECT_EQ(first.clones(), 0u);
  gate.open(1);
  EXPECT_EQ(first.count(), 0u);
  EXPECT_EQ(second.count(), 1u);
}

Async<int> finish_after_an_await(Gate<int>& gate) { co_return co_await gate.wait(); }

TEST(ContractDeathTest, AFuturePolledAfterReadyAbortsWithItsNameAndAwaitLocation) {
  Gate<int> gate;
  gate.open(1);
  auto future = finish_after_an_await(gate);
  EXPECT_TRUE(test::poll_once(future).is_ready());
  const std::string place = "contract_test.cpp:" + std::to_string(future.where().line());
  EXPECT_DEATH((void)test::poll_once(future),
               "polled after it was ready.*in: .*finish_after_an_await.*" + place);
}

TEST(Contract, AFutureMayBeMovedUntilItsFirstPoll) {
  Gate<int> gate;
  auto made = await_deeply(gate);
  auto moved = std::move(made);
  AnyFuture<int> erased = std::move(moved);
  auto on_heap = std::make_unique<AnyFuture<int>>(std::move(erased));
  EXPECT_TRUE(test::poll_once(*on_heap).is_pending());
  gate.open(3);
  EXPECT_EQ(test::poll_once(*on_heap).value(), 3);
}

Async<> hold_things(Gate<>& first, Gate<>& second, Life life) {
  const Life local(life);
  co_await first.wait();
  const auto heap = std::make_unique<Life>(life);
  co_await second.wait();
}
Async<> hold_things_deeply(Gate<>& first, Gate<>& second, Life life) {
  co_await hold_things(first, second, life);
  co_await test::PendingOnce();
}

TEST(Contract, AFutureDestroyedAtAnyAwaitPointLeaksNothing) {
  Lives lives;
  std::unique_ptr<Gate<>> first;
  std::unique_ptr<Gate<>> second;
  const auto report = testing::drop_at_each_poll(
      [&] {
        first = std::make_unique<Gate<>>();
        second = std::make_unique<Gate<>>();
        return hold_things_deeply(*first, *second, Life(lives));
      },
      [&](std::size_t k) {
        if (k == 1) first->open();
        if (k == 2) second->open();
      },
      [&](std::size_t) { EXPECT_EQ(lives.alive(), 0); });
  EXPECT_EQ(report.polls, 4u);
  EXPECT_EQ(report.wakers_left, 0u);
}

/// The smallest executor: polls while there were wakes. Counts polls.
template <class F>
class Polls {
 public:
  explicit Polls(F future) : harness_(std::move(future)) { (void)harness_.poll(); }
  /// Polls once for any number of wakes; how often it has polled so far.
  std::size_t run() {
    while (harness_.is_woken() && !done_) done_ = harness_.poll().is_ready();
    return harness_.polls();
  }
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] const Waker& waker() const { return harness_.waker().waker(); }

 private:
  PollHarness<F> harness_;
  bool done_ = false;
};

TEST(Contract, AnyNumberOfWakesBeforeAPollCostOnePoll) {
  Gate<int> gate;
  Polls task(await_deeply(gate));
  EXPECT_EQ(task.run(), 1u);
  for (int i = 0; i < 10; ++i) task.waker().wake_by_ref();
  EXPECT_EQ(task.run(), 2u);
  EXPECT_EQ(task.run(), 2u);
  gate.open(1);
  EXPECT_EQ(task.run(), 3u);
  EXPECT_TRUE(task.done());
}

TEST(Contract, AWakeDuringAPollCausesExactlyOneMore) {
  Polls task(test::ReadyAfter<int>(1, 5));
  EXPECT_EQ(task.run(), 2u);
  EXPECT_TRUE(task.done());
}

TEST(Contract, AWakeAfterCompletionDoesNothing) {
  Gate<int> gate;
  Polls task(await_deeply(gate));
  const Waker kept = task.waker();
  gate.open(1);
  EXPECT_EQ(task.run(), 2u);
  kept.wake_by_ref();
  EXPECT_EQ(task.run(), 2u);
}

TEST(Contract, NoWakeFromAnotherThreadIsLost) {
  for (int round = 0; round < 500; ++round) {
    Gate<int> gate;
    PollHarness h(await_deeply(gate));
    atomic<bool> go{false};
    Thread opener([&] {
      while (!go.load(memory_order_acquire)) spin_hint();
      gate.open(round);
    });
    go.store(true, memory_order_release);
    auto polled = h.poll();
    opener.join();
    if (polled.is_pending()) {
      ASSERT_TRUE(h.is_woken()) << "round " << round;
      polled = h.poll();
    }
    ASSERT_EQ(polled.value(), round);
  }
}

TEST(Contract, AWakerMayOutliveItsFuture) {
  Waker kept;
  {
    Gate<int> gate;
    PollHarness h(await_deeply(gate));
    EXPECT_TRUE(h.poll().is_pending());
    kept = h.waker().waker();
  }
  kept.wake_by_ref();
  std::move(kept).wake();
}

}  // namespace
}  // namespace rouse
