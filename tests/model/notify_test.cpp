// Models of Notify: notifications against futures that get in line, look, and give up.
#include "rouse/sync/notify.hpp"

#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "model/waiting.hpp"

namespace rouse::model {
namespace {

using sync::Notify;

TEST(NotifyModel, ANotificationIsNotLostAndPublishesWhatWasDoneBefore) {
  check(
      [] {
        Notify notify;
        Cell<int> data{0};
        Thread other([&] {
          data.write() = 1;
          notify.notify_one();
        });
        block_on(notify.notified());
        ensure(data.read() == 1);
        other.join();
      },
      {.preemption_bound = Options::unbounded});
}

TEST(NotifyModel, OfTwoNotificationsBothWaitersGetOne) {
  check([] {
    Notify notify;
    Cell<int> data{0};
    auto first = notify.notified();
    auto second = notify.notified();
    let_wait(first);
    let_wait(second);
    Thread notifier([&] {
      notify.notify_one();
      data.write() = 1;
      notify.notify_one();
    });
    block_on(second);
    ensure(data.read() == 1);
    block_on(first);
    notifier.join();
  });
}

TEST(NotifyModel, NotificationsOfTwoThreadsReachTwoWaiters) {
  check(
      [] {
        Notify notify;
        auto first = notify.notified();
        auto second = notify.notified();
        let_wait(first);
        let_wait(second);
        Thread one([&] { notify.notify_one(); });
        Thread another([&] { notify.notify_last(); });
        block_on(first);
        block_on(second);
        one.join();
        another.join();
      },
      {.old_value_bound = 1});
}

TEST(NotifyModel, AWaiterThatGivesUpPassesItsNotificationOn) {
  check([] {
    Notify notify;
    Cell<int> data{0};
    auto first = std::make_optional(notify.notified());
    auto second = notify.notified();
    let_wait(*first);
    let_wait(second);
    Thread other([&] {
      data.write() = 1;
      notify.notify_one();
    });
    first.reset();
    block_on(second);
    ensure(data.read() == 1);
    other.join();
  });
}

TEST(NotifyModel, TheLastInLineThatGivesUpPassesItsNotificationOn) {
  check([] {
    Notify notify;
    auto first = notify.notified();
    auto last = std::make_optional(notify.notified());
    let_wait(first);
    let_wait(*last);
    Thread other([&] { notify.notify_last(); });
    last.reset();
    block_on(first);
    other.join();
  });
}

TEST(NotifyModel, WhatTheOnlyWaiterGivesUpIsKept) {
  check(
      [] {
        Notify notify;
        Cell<int> data{0};
        auto waiting = std::make_optional(notify.notified());
        let_wait(*waiting);
        Thread other([&] {
          data.write() = 1;
          notify.notify_one();
        });
        waiting.reset();
        block_on(notify.notified());
        ensure(data.read() == 1);
        other.join();
      },
      {.preemption_bound = Options::unbounded});
}

TEST(NotifyModel, OneNotificationIsTakenOnce) {
  check([] {
    Notify notify;
    auto first = notify.notified();
    auto second = notify.notified();
    Thread notifier([&] { notify.notify_one(); });
    Thread other([&] { (void)is_ready(second); });
    (void)is_ready(first);
    notifier.join();
    other.join();
    ensure(is_ready(first) != is_ready(second), "by one of the two");
  });
}

TEST(NotifyModel, AllWhoseFutureWasMadeBeforeAreNotified) {
  check([] {
    Notify notify;
    Cell<int> data{0};
    auto polled = notify.notified();
    auto fresh = notify.notified();
    let_wait(polled);
    Thread notifier([&] {
      data.write() = 1;
      notify.notify_waiters();
    });
    block_on(fresh);
    ensure(data.read() == 1);
    block_on(polled);
    notifier.join();
  });
}

TEST(NotifyModel, WhoComesTooLateForANotificationOfAllDoesNotWaitBehindThoseWhoCameAfterIt) {
  check([] {
    Notify notify;
    auto before = notify.notified();
    Thread other([&] {
      notify.notify_waiters();
      auto after = notify.notified();
      let_wait(after);
    });
    block_on(before);
    other.join();
  });
}

TEST(NotifyModel, MoreThanABatchIsNotifiedAndWhoGivesUpMeanwhileIsNotTouchedAnyMore) {
  check(
      [] {
        Notify notify;
        auto first = notify.notified();
        auto second = notify.notified();
        auto leaving = std::make_optional(notify.notified());
        auto last = notify.notified();
        for (auto* waiting : {&first, &second, &*leaving, &last}) let_wait(*waiting);
        Thread notifier([&] { notify.notify_waiters(); });
        leaving.reset();
        block_on(last);
        block_on(first);
        block_on(second);
        notifier.join();
      },
      {.old_value_bound = 1});
}

TEST(NotifyModel, ANotificationOfAllDoesNotSwallowThatOfOne) {
  check([] {
    Notify notify;
    auto waiting = std::make_optional(notify.notified());
    let_wait(*waiting);
    Thread all([&] { notify.notify_waiters(); });
    Thread one([&] { notify.notify_one(); });
    waiting.reset();
    all.join();
    one.join();
    auto later = notify.notified();
    ensure(is_ready(later), "passed on, or kept");
  });
}

TEST(NotifyModel, WhoGivesUpAgainstANotificationOfAllLeavesTheLineInOrder) {
  check([] {
    Notify notify;
    auto first = std::make_optional(notify.notified());
    auto second = notify.notified();
    let_wait(*first);
    let_wait(second);
    Thread all([&] { notify.notify_waiters(); });
    first.reset();
    block_on(second);
    all.join();
    auto later = notify.notified();
    let_wait(later);  // a notification of all is not kept
  });
}

TEST(NotifyModel, WhoeverStoredTheCountItPublishesWhatTheNotifierDid) {
  check(
      [] {
        Notify notify;
        Cell<int> data{0};
        auto before = notify.notified();
        Thread all([&] {
          data.write() = 1;
          notify.notify_waiters();
        });
        Thread passing([&] {  // its leaving stores the state anew, with the count
          auto waiting = notify.notified();
          (void)is_ready(waiting);
        });
        if (is_ready(before)) ensure(data.read() == 1);
        all.join();
        passing.join();
      },
      {.old_value_bound = 1});
}

TEST(NotifyModel, APermitStandsForAllNotificationsThatMetInIt) {
  check([] {
    Notify notify;
    atomic<int> done{0};
    Thread other([&] {
      for (const int step : {1, 2}) {
        done.store(step, memory_order_relaxed);
        notify.notify_one();
      }
    });
    while (done.load(memory_order_relaxed) != 2) block_on(notify.notified());
    other.join();
  });
}

TEST(NotifyModel, WhoWasNotifiedMayDestroyTheNotify) {
  check([] {
    auto notify = std::make_unique<Notify>();
    Thread other([&to = *notify] { to.notify_one(); });
    block_on(notify->notified());
    notify.reset();
    other.join();
  });
}

}  // namespace
}  // namespace rouse::model
