#include "rouse/sync/watch.hpp"

#include <array>
#include <atomic>
#include <compare>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"
#include "support/sanitizer.hpp"
#include "sync/executors.hpp"
#include "sync/linearizability.hpp"
#include "sync/reentrant_waker.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::sync::watch;
using rouse::sync::WatchReceiver;
using rouse::sync::WatchSender;
using rouse::testing::CountingWaker;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

static_assert(sizeof(WatchReceiver<int>) == 56);
static_assert(sizeof(WatchReceiver<int>::Changed) == 8);
static_assert(sizeof(sync::Closed<WatchCore>) == 48);

TEST(Watch, TheInitialValueIsThereAndCountsAsSeen) {
  auto [tx, rx] = watch<std::string>("first");
  EXPECT_EQ(*rx.borrow(), "first");
  EXPECT_EQ(*tx.borrow(), "first");
  EXPECT_FALSE(rx.has_changed());
  auto changed = rx.changed();
  EXPECT_TRUE(poll_once(changed).is_pending());
}

TEST(Watch, AReceiverThatWaitsIsWokenAndSeesTheLatestValue) {
  auto [tx, rx] = watch<int>(0);
  PollHarness changed(rx.changed());
  EXPECT_TRUE(changed.poll().is_pending() && changed.kept_waker());
  EXPECT_TRUE(tx.send(1).has_value());
  EXPECT_TRUE(tx.send(2).has_value());
  EXPECT_TRUE(changed.is_woken());
  EXPECT_TRUE(changed.poll().value().has_value());
  EXPECT_EQ(*rx.borrow(), 2);
  EXPECT_FALSE(rx.has_changed());
}

TEST(Watch, BorrowAndUpdateCountsAsSeenAndBorrowDoesNot) {
  auto [tx, rx] = watch<int>(0);
  EXPECT_TRUE(tx.send(1).has_value());
  EXPECT_EQ(*rx.borrow(), 1);
  EXPECT_TRUE(rx.has_changed());
  EXPECT_EQ(*rx.borrow_and_update(), 1);
  EXPECT_FALSE(rx.has_changed());
  rx.mark_changed();
  EXPECT_TRUE(rx.has_changed());
  rx.mark_unchanged();
  EXPECT_FALSE(rx.has_changed());
}

TEST(Watch, ABorrowStaysAsItIsWhileTheValueChanges) {
  auto [tx, rx] = watch<std::string>("old");
  const auto old = rx.borrow();
  EXPECT_TRUE(tx.send("new").has_value());
  tx.send_modify([](std::string& value) { value += "er"; });
  EXPECT_EQ(*old, "old");
  EXPECT_EQ(*rx.borrow(), "newer");
}

TEST(Watch, AValueIsFreedOnceItIsReplacedAndNotBorrowed) {
  Lives lives;
  {
    auto [tx, rx] = watch<Life>(Life(lives));
    EXPECT_EQ(lives.alive(), 1);
    {
      const auto borrowed_value = rx.borrow();
      EXPECT_TRUE(tx.send(Life(lives)).has_value());
      EXPECT_EQ(lives.alive(), 2);
    }
    EXPECT_EQ(lives.alive(), 1);
  }
  EXPECT_EQ(lives.alive(), 0);
}

TEST(Watch, EachReceiverKnowsWhatItHasSeen) {
  auto [tx, rx] = watch<int>(0);
  auto copy = rx;
  auto subscribed = tx.subscribe();
  EXPECT_EQ(tx.receiver_count(), 3U);
  EXPECT_TRUE(tx.send(1).has_value());
  rx.mark_unchanged();
  EXPECT_FALSE(rx.has_changed());
  EXPECT_TRUE(copy.has_changed());
  EXPECT_TRUE(subscribed.has_changed());
  auto later = tx.subscribe();
  EXPECT_FALSE(later.has_changed()) << "the value that is there counts as seen";
  auto copy_of_unseen = copy;
  EXPECT_TRUE(copy_of_unseen.has_changed());
}

TEST(Watch, WhenTheSendersAreGoneTheLastValueIsStillToldThenTheEnd) {
  auto [tx, rx] = watch<int>(0);
  auto second_sender = tx;
  EXPECT_TRUE(tx.send(1).has_value());
  {
    const auto gone = std::move(tx);
  }
  EXPECT_FALSE(rx.is_closed());
  {
    const auto gone = std::move(second_sender);
  }
  EXPECT_TRUE(rx.is_closed());
  auto first = rx.changed();
  EXPECT_TRUE(poll_once(first).value().has_value());
  auto second = rx.changed();
  EXPECT_EQ(poll_once(second).value().error(), std::errc::broken_pipe);
  EXPECT_EQ(*rx.borrow(), 1);
}

TEST(Watch, AReceiverThatWaitsIsWokenByTheEnd) {
  auto [tx, rx] = watch<int>(0);
  PollHarness changed(rx.changed());
  EXPECT_TRUE(changed.poll().is_pending());
  {
    const auto gone = std::move(tx);
  }
  EXPECT_TRUE(changed.is_woken());
  EXPECT_FALSE(changed.poll().value().has_value());
}

TEST(Watch, SendFailsWithoutReceiversAndSendReplaceDoesNot) {
  auto [tx, rx] = watch<int>(0);
  {
    const auto gone = std::move(rx);
  }
  EXPECT_TRUE(tx.is_closed());
  EXPECT_EQ(tx.send(1).error(), std::errc::broken_pipe);
  EXPECT_EQ(*tx.borrow(), 0);
  EXPECT_EQ(*tx.send_replace(2), 0);
  EXPECT_EQ(*tx.borrow(), 2);
  auto again = tx.subscribe();
  EXPECT_FALSE(tx.is_closed());
  EXPECT_TRUE(tx.send(3).has_value());
  EXPECT_EQ(*again.borrow(), 3);
}

TEST(Watch, TheSenderLearnsThatTheLastReceiverWent) {
  auto [tx, rx] = watch<int>(0);
  PollHarness closed(tx.closed());
  EXPECT_TRUE(closed.poll().is_pending() && closed.kept_waker());
  auto copy = rx;
  {
    const auto gone = std::move(rx);
  }
  EXPECT_FALSE(closed.is_woken());
  {
    const auto gone = std::move(copy);
  }
  EXPECT_TRUE(closed.is_woken());
  auto subscribed = tx.subscribe();
  EXPECT_TRUE(closed.poll().is_pending()) << "there is one again";
  {
    const auto gone = std::move(subscribed);
  }
  EXPECT_TRUE(closed.is_woken() && closed.poll().is_ready());
}

TEST(Watch, SendIfModifiedTellsNobodyIfNothingChanged) {
  auto [tx, rx] = watch<int>(5);
  EXPECT_FALSE(tx.send_if_modified([](int& value) {
    value = 6;
    return false;
  }));
  EXPECT_EQ(*rx.borrow(), 5);
  EXPECT_FALSE(rx.has_changed());
  EXPECT_TRUE(tx.send_if_modified([](int& value) { return ++value != 0; }));
  EXPECT_EQ(*rx.borrow(), 6);
  EXPECT_TRUE(rx.has_changed());
}

TEST(Watch, AModificationThatThrowsLeavesTheValueAsItWas) {
  auto [tx, rx] = watch<int>(5);
  EXPECT_THROW(tx.send_modify([](int& value) {
    value = 6;
    throw std::runtime_error("no");
  }),
               std::runtime_error);
  EXPECT_EQ(*rx.borrow(), 5);
  EXPECT_FALSE(rx.has_changed());
}

TEST(Watch, AModificationMaySendItself) {
  auto [tx, rx] = watch<int>(0);
  int calls = 0;
  tx.send_modify([&](int& value) {
    if (calls++ == 0) (void)tx.send(10);
    ++value;
  });
  EXPECT_EQ(calls, 2) << "once more, on the value that came between";
  EXPECT_EQ(*rx.borrow(), 11);
}

TEST(Watch, AValueThatCannotBeCopiedCanBeSent) {
  auto [tx, rx] = watch<std::unique_ptr<int>>(nullptr);
  EXPECT_TRUE(tx.send(std::make_unique<int>(3)).has_value());
  EXPECT_EQ(**rx.borrow(), 3);
}

TEST(Watch, WaitForLooksAtTheValueThatIsThereFirst) {
  auto [tx, rx] = watch<int>(7);
  auto wait = rx.wait_for([](int value) { return value == 7; });
  EXPECT_EQ(**poll_once(wait).value(), 7);
}

TEST(Watch, WaitForPassesOverOtherValues) {
  auto [tx, rx] = watch<int>(0);
  int looks = 0;
  PollHarness wait(rx.wait_for([&](int value) {
    ++looks;
    return value > 1;
  }));
  EXPECT_TRUE(wait.poll().is_pending());
  EXPECT_TRUE(wait.poll().is_pending());
  EXPECT_EQ(looks, 1) << "one look a value";
  EXPECT_TRUE(tx.send(1).has_value());
  EXPECT_TRUE(wait.is_woken() && wait.poll().is_pending());
  EXPECT_TRUE(tx.send(2).has_value());
  EXPECT_EQ(**wait.poll().value(), 2);
  EXPECT_FALSE(rx.has_changed());
}

TEST(Watch, WaitForEndsWithTheSenders) {
  auto [tx, rx] = watch<int>(0);
  PollHarness wait(rx.wait_for([](int value) { return value == 2; }));
  EXPECT_TRUE(wait.poll().is_pending());
  EXPECT_TRUE(tx.send(1).has_value());
  {
    const auto gone = std::move(tx);
  }
  EXPECT_FALSE(wait.poll().value().has_value());
}

TEST(Watch, AsAStreamItGivesValuesThatWereNotSeenAndThenEnds) {
  auto [tx, rx] = watch<int>(0);
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(rx.poll_next(cx).is_pending());
  EXPECT_TRUE(tx.send(1).has_value());
  EXPECT_EQ(waker.count(), 1U);
  EXPECT_EQ(rx.poll_next(cx).value(), 1);
  EXPECT_TRUE(rx.poll_next(cx).is_pending());
  {
    const auto gone = std::move(tx);
  }
  EXPECT_EQ(rx.poll_next(cx).value(), std::nullopt);
}

TEST(Watch, AReceiverThatMovesWhileSomebodyWaitsWakesThem) {
  auto [tx, rx] = watch<int>(0);
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(rx.poll_next(cx).is_pending());
  auto moved = std::move(rx);
  EXPECT_EQ(waker.count(), 1U);
  EXPECT_EQ(waker.clones(), 0U);
  EXPECT_TRUE(moved.poll_next(cx).is_pending());
  EXPECT_TRUE(tx.send(1).has_value());
  EXPECT_EQ(waker.count(), 2U);
}

TEST(Watch, ChangedDroppedAtEachPollLosesNoChange) {
  auto [tx, rx] = watch<int>(0);
  auto& sender = tx;
  auto& receiver = rx;
  const auto report = drop_at_each_poll([&] { return receiver.changed(); },
                                        [&](std::size_t) { (void)sender.send(1); });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
  {
    PollHarness dropped(rx.changed());
    EXPECT_TRUE(dropped.poll().is_pending());
    EXPECT_TRUE(tx.send(2).has_value());
  }
  EXPECT_TRUE(rx.has_changed());
}

TEST(Watch, TakesFromTheBudget) {
  auto [tx, rx] = watch<int>(0);
  EXPECT_TRUE(tx.send(1).has_value());
  CountingWaker waker;
  Context none(waker.waker(), 0);
  EXPECT_TRUE(rx.poll_next(none).is_pending());
  EXPECT_EQ(waker.count(), 1U);
  EXPECT_TRUE(rx.has_changed());
}

TEST(Watch, AWakerThatReEntersCausesNoDeadlock) {
  auto [tx, rx] = watch<int>(0);
  auto& sender = tx;
  ReentrantWaker waker([&] {
    sender.send_modify([](int& value) { ++value; });
    (void)sender.borrow();
    (void)sender.subscribe();
  });
  Context cx(waker.waker());
  {
    auto changed = rx.changed();
    (void)changed.poll(cx);
    (void)poll_once(changed);
    (void)changed.poll(cx);
  }
  rx.mark_unchanged();
  auto closed = tx.closed();
  (void)closed.poll(cx);
  {
    const auto gone = std::move(rx);
  }
  EXPECT_GT(waker.clones(), 0);
  EXPECT_GT(waker.drops(), 0);
}

/// Its end uses the channel.
struct SendsWhenDropped {
  explicit SendsWhenDropped(WatchSender<SendsWhenDropped>* to) : sender(to) {}
  SendsWhenDropped(SendsWhenDropped&& other) noexcept
      : sender(std::exchange(other.sender, nullptr)) {}
  ~SendsWhenDropped() {
    if (sender) (void)sender->borrow();
  }
  WatchSender<SendsWhenDropped>* sender;
};
TEST(Watch, AValueWhoseEndReEntersCausesNoDeadlock) {
  auto [tx, rx] = watch<SendsWhenDropped>(nullptr);
  EXPECT_TRUE(tx.send(SendsWhenDropped(&tx)).has_value());
  EXPECT_TRUE(tx.send(SendsWhenDropped(nullptr)).has_value());
}

template <class Executor>
class WatchOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(WatchOn, HostedExecutors, ExecutorNames);

Async<void> follow(WatchReceiver<int> rx, std::atomic<int>& arrived) {
  int last = *rx.borrow_and_update();
  while (co_await rx.changed()) {
    const int value = *rx.borrow_and_update();
    EXPECT_GT(value, last);
    last = value;
  }
  if (last == 100) ++arrived;
}
Async<void> count_up(WatchSender<int> tx) {
  for (int i = 1; i <= 100; ++i) {
    (void)tx.send(i);
    if (i % 3 == 0) co_await yield_now();
  }
}
TYPED_TEST(WatchOn, AllReceiversSeeTheLastValue) {
  std::atomic<int> arrived{0};
  auto [tx, rx] = watch<int>(0);
  for (int i = 0; i < 3; ++i) this->executor.spawn(follow(rx, arrived));
  {
    const auto gone = std::move(rx);
  }
  this->executor.run(count_up(std::move(tx)));
  EXPECT_EQ(arrived, 3);
}

constexpr int watch_threads = 3;
struct WatchModel {
  struct Op {
    enum class Kind { send, add, read, update, has_changed, poll_changed } kind = Kind::read;
    int thread = 0;
    int value = 0;
    friend std::ostream& operator<<(std::ostream& out, const Op& op) {
      static constexpr const char* names[] = {"send",   "add",         "read",
                                              "update", "has_changed", "poll_changed"};
      return out << names[static_cast<int>(op.kind)] << '(' << op.value << ')';
    }
  };
  using Result = int;

  Result apply(const Op& op) {
    int& mine = seen[static_cast<std::size_t>(op.thread)];
    const bool unseen = mine != version;
    switch (op.kind) {
      case Op::Kind::send:
        ++version;
        value = op.value;
        return 0;
      case Op::Kind::add:
        ++version;
        value += op.value;
        return 0;
      case Op::Kind::read:
        return value;
      case Op::Kind::update:
        mine = version;
        return value;
      case Op::Kind::has_changed:
        return unseen ? 1 : 0;
      case Op::Kind::poll_changed:
        mine = version;
        return unseen ? 1 : 0;
    }
    return -1;
  }
  auto operator<=>(const WatchModel&) const = default;

  int value = 0;
  int version = 0;
  std::array<int, watch_threads> seen{};
};

struct WatchedByThreads {
  WatchedByThreads() : WatchedByThreads(watch<int>(0)) {}
  explicit WatchedByThreads(std::pair<WatchSender<int>, WatchReceiver<int>> channel)
      : senders(watch_threads, channel.first), receivers(watch_threads, channel.second) {}
  std::vector<WatchSender<int>> senders;
  std::vector<WatchReceiver<int>> receivers;
};

TEST(Watch, IsLinearizable) {
  using Kind = WatchModel::Op::Kind;
  const auto report = check_histories<WatchModel>(
      HistoryOptions(), [] { return WatchModel(); },
      [] { return std::make_unique<WatchedByThreads>(); },
      [](Random& random, std::size_t thread) {
        WatchModel::Op op;
        op.kind = static_cast<Kind>(random() % 6);
        op.thread = static_cast<int>(thread);
        op.value = static_cast<int>(random() % 100);
        return op;
      },
      [](WatchedByThreads& watched, std::size_t thread, const WatchModel::Op& op) {
        auto& tx = watched.senders[thread];
        auto& rx = watched.receivers[thread];
        switch (op.kind) {
          case Kind::send:
            return tx.send(op.value).has_value() ? 0 : -1;
          case Kind::add:
            tx.send_modify([&](int& value) { value += op.value; });
            return 0;
          case Kind::read:
            return *rx.borrow();
          case Kind::update:
            return *rx.borrow_and_update();
          case Kind::has_changed:
            return rx.has_changed() ? 1 : 0;
          case Kind::poll_changed: {
            auto changed = rx.changed();
            return poll_once(changed).is_ready() ? 1 : 0;
          }
        }
        return -1;
      });
  EXPECT_EQ(report.violation, "");
  EXPECT_GT(report.overlapping, 0U);
}

}  // namespace
