#include "rouse/sync/notify.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "support/sanitizer.hpp"
#include "sync/executors.hpp"
#include "sync/reentrant_waker.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::sync::Notify;
using rouse::testing::CountingWaker;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

static_assert(sizeof(Notify::Notified) == 56);
static_assert(!std::is_aggregate_v<Notify::Notified>);

bool is_ready_at_once(Notify& notify) { return PollHarness(notify.notified()).poll().is_ready(); }

TEST(Notify, APermitStoredBeforeWaitingIsConsumedAtOnce) {
  Notify notify;
  notify.notify_one();
  EXPECT_TRUE(is_ready_at_once(notify));
  EXPECT_FALSE(is_ready_at_once(notify));
}

TEST(Notify, KeepsAtMostOnePermit) {
  Notify notify;
  notify.notify_one();
  notify.notify_one();
  notify.notify_last();
  EXPECT_TRUE(is_ready_at_once(notify));
  EXPECT_FALSE(is_ready_at_once(notify));
}

TEST(Notify, WakesTheOneThatWaitsLongest) {
  Notify notify;
  PollHarness first(notify.notified());
  PollHarness second(notify.notified());
  EXPECT_TRUE(first.poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  EXPECT_TRUE(first.kept_waker() && second.kept_waker());
  notify.notify_one();
  EXPECT_TRUE(first.is_woken());
  EXPECT_FALSE(second.is_woken());
  EXPECT_TRUE(first.poll().is_ready());
  EXPECT_TRUE(second.poll().is_pending());
  notify.notify_one();
  EXPECT_TRUE(second.poll().is_ready());
  EXPECT_FALSE(is_ready_at_once(notify));
}

TEST(Notify, NotifyLastWakesTheOneThatCameLast) {
  Notify notify;
  PollHarness first(notify.notified());
  PollHarness second(notify.notified());
  EXPECT_TRUE(first.poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  notify.notify_last();
  EXPECT_FALSE(first.is_woken());
  EXPECT_TRUE(second.is_woken() && second.poll().is_ready());
}

TEST(Notify, NotifyWaitersNotifiesAllThatExistPolledOrNot) {
  Notify notify;
  PollHarness polled(notify.notified());
  PollHarness fresh(notify.notified());
  EXPECT_TRUE(polled.poll().is_pending());
  notify.notify_waiters();
  PollHarness later(notify.notified());
  EXPECT_TRUE(polled.is_woken() && polled.poll().is_ready());
  EXPECT_TRUE(fresh.poll().is_ready());
  EXPECT_TRUE(later.poll().is_pending());
}

TEST(Notify, NotifyWaitersKeepsNoPermitAndTakesNone) {
  Notify notify;
  notify.notify_waiters();
  EXPECT_FALSE(is_ready_at_once(notify));
  notify.notify_one();
  notify.notify_waiters();
  EXPECT_TRUE(is_ready_at_once(notify));
  EXPECT_FALSE(is_ready_at_once(notify));
}

TEST(Notify, AFutureThatNotifyWaitersReachedTakesNoPermit) {
  Notify notify;
  PollHarness fresh(notify.notified());
  notify.notify_waiters();
  notify.notify_one();
  EXPECT_TRUE(fresh.poll().is_ready());
  EXPECT_TRUE(is_ready_at_once(notify)) << "the permit is still there";
}

TEST(Notify, ANotificationThatADroppedFutureDidNotSeeGoesToTheNext) {
  Notify notify;
  std::optional<PollHarness<Notify::Notified>> first(std::in_place, notify.notified());
  PollHarness second(notify.notified());
  EXPECT_TRUE(first->poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  notify.notify_one();
  first.reset();
  EXPECT_TRUE(second.is_woken() && second.poll().is_ready());
  EXPECT_FALSE(is_ready_at_once(notify));
}

TEST(Notify, ANotificationThatADroppedFutureDidNotSeeIsKeptIfNobodyWaits) {
  Notify notify;
  {
    PollHarness only(notify.notified());
    EXPECT_TRUE(only.poll().is_pending());
    notify.notify_one();
  }
  EXPECT_TRUE(is_ready_at_once(notify));
}

TEST(Notify, ADroppedFutureThatNotifyWaitersReachedPassesNothingOn) {
  Notify notify;
  std::optional<PollHarness<Notify::Notified>> first(std::in_place, notify.notified());
  EXPECT_TRUE(first->poll().is_pending());
  notify.notify_waiters();
  PollHarness second(notify.notified());
  EXPECT_TRUE(second.poll().is_pending());
  first.reset();
  EXPECT_FALSE(second.is_woken());
  EXPECT_TRUE(second.poll().is_pending());
}

TEST(Notify, AFutureThatLeavesTheMiddleOfTheLineIsForgotten) {
  Notify notify;
  PollHarness first(notify.notified());
  std::optional<PollHarness<Notify::Notified>> middle(std::in_place, notify.notified());
  PollHarness last(notify.notified());
  EXPECT_TRUE(first.poll().is_pending());
  EXPECT_TRUE(middle->poll().is_pending());
  EXPECT_TRUE(last.poll().is_pending());
  middle.reset();
  notify.notify_one();
  notify.notify_one();
  EXPECT_TRUE(first.poll().is_ready());
  EXPECT_TRUE(last.poll().is_ready());
}

TEST(Notify, AnEnabledFutureReceivesWhatIsSentBeforeItsFirstPoll) {
  Notify notify;
  auto enabled = notify.notified();
  EXPECT_FALSE(enabled.enable());
  EXPECT_FALSE(enabled.enable());
  PollHarness second(notify.notified());
  EXPECT_TRUE(second.poll().is_pending());
  notify.notify_one();
  EXPECT_TRUE(enabled.enable());
  EXPECT_FALSE(second.is_woken());
  Context cx(Waker::noop());
  EXPECT_TRUE(enabled.poll(cx).is_ready());
  notify.notify_one();
  EXPECT_TRUE(second.poll().is_ready());
}

TEST(Notify, EnableTakesThePermit) {
  Notify notify;
  notify.notify_one();
  auto enabled = notify.notified();
  EXPECT_TRUE(enabled.enable());
  EXPECT_FALSE(is_ready_at_once(notify));
  Context cx(Waker::noop());
  EXPECT_TRUE(enabled.poll(cx).is_ready());
}

TEST(Notify, AnEnabledFutureThatIsPolledLaterIsWoken) {
  Notify notify;
  auto enabled = notify.notified();
  EXPECT_FALSE(enabled.enable());
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(enabled.poll(cx).is_pending());
  notify.notify_waiters();
  EXPECT_EQ(waker.count(), 1U);
}

TEST(Notify, TheWakerOfTheLatestPollIsWoken) {
  Notify notify;
  PollHarness future(notify.notified());
  EXPECT_TRUE(future.poll().is_pending());
  EXPECT_TRUE(future.poll().is_pending());
  EXPECT_EQ(future.waker().clones_made(), 1U);
  future.change_waker();
  EXPECT_TRUE(future.poll().is_pending());
  notify.notify_one();
  EXPECT_TRUE(future.is_woken());
}

TEST(Notify, AFutureDroppedAtEachPollStrandsNoNotification) {
  Notify notify;
  PollHarness other(notify.notified());
  const auto report = drop_at_each_poll(
      [&] { return notify.notified(); }, [&](std::size_t) { notify.notify_one(); },
      [&](std::size_t k) { EXPECT_FALSE(is_ready_at_once(notify)) << k; });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
  notify.notify_one();
  EXPECT_TRUE(other.poll().is_ready());
}

TEST(Notify, TakesFromTheBudget) {
  Notify notify;
  Context cx(Waker::noop(), 1);
  notify.notify_one();
  auto first = notify.notified();
  EXPECT_TRUE(first.poll(cx).is_ready());
  notify.notify_one();
  auto second = notify.notified();
  EXPECT_TRUE(second.poll(cx).is_pending());
  EXPECT_TRUE(is_ready_at_once(notify)) << "the permit was not lost";
}

TEST(Notify, AWakerThatReEntersCausesNoDeadlock) {
  Notify notify;
  ReentrantWaker waker([&] {
    notify.notify_one();
    notify.notify_waiters();
    (void)is_ready_at_once(notify);
    Context cx(Waker::noop());
    auto dropped = notify.notified();
    (void)dropped.poll(cx);
  });
  CountingWaker other;
  for (int round = 0; round < 4; ++round) {
    std::optional<Notify::Notified> future(notify.notified());
    Context first(waker.waker());
    Context second(other.waker());
    bool ready = future->poll(first).is_ready();
    if (!ready) ready = future->poll(second).is_ready();  // drops the re-entrant one
    if (!ready) ready = future->poll(first).is_ready();
    if (round == 0) future.reset();
    if (round == 1) notify.notify_one();
    if (round == 2) notify.notify_waiters();
  }
  EXPECT_GT(waker.clones(), 0);
  EXPECT_GT(waker.drops(), 0);
  while (is_ready_at_once(notify)) {
  }
}

TEST(Notify, AWakerThatReEntersWhileAllAreNotified) {
  Notify notify;
  std::vector<std::unique_ptr<Notify::Notified>> futures;
  // Wakes come in batches: this one drops those that were not reached yet.
  ReentrantWaker waker([&] {
    while (futures.size() > 10) futures.pop_back();
  });
  Context cx(waker.waker());
  for (int i = 0; i < 100; ++i) {
    futures.push_back(std::make_unique<Notify::Notified>(notify.notified()));
  }
  for (int i = 0; i < 10; ++i) (void)futures[static_cast<std::size_t>(i)]->poll(cx);
  Context quiet(Waker::noop());
  for (auto& future : futures) (void)future->poll(quiet);
  (void)futures[0]->poll(cx);
  notify.notify_waiters();
  EXPECT_EQ(futures.size(), 10U);
  EXPECT_EQ(waker.wakes(), 1);
  for (auto& future : futures) EXPECT_TRUE(future->poll(quiet).is_ready());
}

template <class Executor>
class NotifyOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(NotifyOn, AllExecutors, ExecutorNames);

Async<void> wait_and_count(Notify& notify, std::atomic<int>& count) {
  co_await notify.notified();
  ++count;
}
Async<void> notify_until(Notify& notify, std::atomic<int>& count, int wanted) {
  while (count < wanted) {
    notify.notify_one();
    co_await yield_now();
  }
}
TYPED_TEST(NotifyOn, EveryWaiterIsNotifiedInTheEnd) {
  Notify notify;
  std::atomic<int> count{0};
  for (int i = 0; i < 5; ++i) this->executor.spawn(wait_and_count(notify, count));
  this->executor.run(notify_until(notify, count, 5));
  EXPECT_EQ(count, 5);
}

Async<void> play(Notify& mine, Notify& other, int times) {
  for (int i = 0; i < times; ++i) {
    co_await mine.notified();
    other.notify_one();
  }
}
TYPED_TEST(NotifyOn, TwoTasksNotifyEachOther) {
  Notify ping;
  Notify pong;
  ping.notify_one();
  this->executor.spawn(play(ping, pong, 1000));
  this->executor.run(play(pong, ping, 1000));
  EXPECT_TRUE(is_ready_at_once(ping));
}

struct Flag {
  Notify changed;
  std::atomic<bool> set{false};
};
Async<void> wait_for_flag(Flag& flag) {
  for (;;) {
    auto changed = flag.changed.notified();
    if (flag.set) co_return;
    co_await changed;
  }
}
Async<void> set_flag(Flag& flag) {
  co_await yield_now();
  flag.set = true;
  flag.changed.notify_waiters();
}
TYPED_TEST(NotifyOn, NotifyWaitersIsNotMissedBetweenTheLookAndTheWait) {
  for (int round = 0; round < (sanitized ? 50 : 300); ++round) {
    Flag flag;
    for (int i = 0; i < 3; ++i) this->executor.spawn(wait_for_flag(flag));
    this->executor.run(set_flag(flag));
  }
}

// Each notification lets one waiter through, however many are dropped at any moment.
TEST(NotifyStress, NoNotificationIsLostWhenWaitersAreDropped) {
  Notify notify;
  std::atomic<bool> stop{false};
  std::atomic<long> taken{0};
  std::thread dropper([&] {
    Context cx(Waker::noop());
    while (!stop) {
      auto future = notify.notified();
      if (future.poll(cx).is_ready()) ++taken;
    }
  });
  std::thread waiter([&] {
    while (!stop) {
      block_on(notify.notified());
      ++taken;
    }
  });
  const int rounds = sanitized ? 2000 : 20000;
  for (int i = 0; i < rounds; ++i) {
    const long before = taken;
    notify.notify_one();
    while (taken == before) std::this_thread::yield();
    ASSERT_EQ(taken, before + 1);
  }
  stop = true;
  dropper.join();
  notify.notify_one();
  notify.notify_waiters();
  waiter.join();
}

}  // namespace
