#include "rouse/sync/broadcast.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
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
#include "sync/executors.hpp"
#include "sync/linearizability.hpp"
#include "sync/reentrant_waker.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::sync::broadcast;
using rouse::sync::BroadcastReceiver;
using rouse::sync::BroadcastSender;
using rouse::testing::CountingWaker;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

static_assert(sizeof(BroadcastReceiver<int>) == 64);
static_assert(sizeof(BroadcastReceiver<int>::Recv) == 8);
static_assert(sizeof(sync::Closed<BroadcastCore>) == 48);

TEST(Broadcast, EveryReceiverGetsEveryValue) {
  auto [tx, rx] = broadcast<std::string>(4);
  auto second = tx.subscribe();
  EXPECT_EQ(tx.send("a").value(), 2U);
  EXPECT_EQ(tx.send("b").value(), 2U);
  EXPECT_EQ(rx.try_recv(), "a");
  EXPECT_EQ(rx.try_recv(), "b");
  EXPECT_EQ(rx.try_recv(), std::nullopt);
  EXPECT_EQ(second.size(), 2U);
  EXPECT_EQ(second.try_recv(), "a");
  EXPECT_EQ(second.try_recv(), "b");
  EXPECT_TRUE(second.empty());
}

TEST(Broadcast, AReceiverGetsWhatIsSentFromItsSubscriptionOn) {
  auto [tx, rx] = broadcast<int>(4);
  EXPECT_TRUE(tx.send(1).has_value());
  auto subscribed = tx.subscribe();
  auto resubscribed = rx.resubscribe();
  auto copy = rx;
  EXPECT_EQ(tx.receiver_count(), 4U);
  EXPECT_TRUE(tx.send(2).has_value());
  EXPECT_EQ(subscribed.try_recv(), 2);
  EXPECT_EQ(resubscribed.try_recv(), 2);
  EXPECT_EQ(copy.try_recv(), 1) << "a copy gets what the original would get";
  EXPECT_EQ(rx.try_recv(), 1);
}

TEST(Broadcast, AReceiverThatWaitsIsWoken) {
  auto [tx, rx] = broadcast<int>(1);
  PollHarness receive(rx.recv());
  EXPECT_TRUE(receive.poll().is_pending() && receive.kept_waker());
  EXPECT_TRUE(tx.send(5).has_value());
  EXPECT_TRUE(receive.is_woken());
  EXPECT_EQ(receive.poll().value(), 5);
}

TEST(Broadcast, ASlowReceiverIsToldHowManyItMissed) {
  auto [tx, rx] = broadcast<int>(3);  // a ring of four places keeps three all the same
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(tx.send(i).has_value());
  EXPECT_EQ(rx.size(), 3U);
  const auto first = rx.try_recv();
  EXPECT_EQ(first, 7);
  EXPECT_EQ(first.lagged(), 7U);
  const auto second = rx.try_recv();
  EXPECT_EQ(second, 8);
  EXPECT_EQ(second.lagged(), 0U);
  EXPECT_EQ(rx.missed(), 7U);
}

TEST(Broadcast, WhenTheSendersAreGoneTheRestIsReceivedThenTheEnd) {
  auto [tx, rx] = broadcast<int>(4);
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
  auto first = rx.recv();
  EXPECT_EQ(poll_once(first).value(), 1);
  auto end = rx.recv();
  EXPECT_FALSE(poll_once(end).value().has_value());
}

TEST(Broadcast, AReceiverThatWaitsIsWokenByTheEnd) {
  auto [tx, rx] = broadcast<int>(4);
  PollHarness receive(rx.recv());
  EXPECT_TRUE(receive.poll().is_pending());
  {
    const auto gone = std::move(tx);
  }
  EXPECT_TRUE(receive.is_woken());
  EXPECT_FALSE(receive.poll().value().has_value());
}

TEST(Broadcast, SendFailsWithoutReceivers) {
  auto [tx, rx] = broadcast<int>(4);
  {
    const auto gone = std::move(rx);
  }
  EXPECT_EQ(tx.send(1).error(), std::errc::broken_pipe);
  auto again = tx.subscribe();
  EXPECT_EQ(tx.send(2).value(), 1U);
  EXPECT_EQ(again.try_recv(), 2);
}

TEST(Broadcast, TheSenderLearnsThatTheLastReceiverWent) {
  auto [tx, rx] = broadcast<int>(4);
  PollHarness closed(tx.closed());
  EXPECT_TRUE(closed.poll().is_pending() && closed.kept_waker());
  {
    const auto gone = std::move(rx);
  }
  EXPECT_TRUE(closed.is_woken() && closed.poll().is_ready());
}

TEST(Broadcast, AValueIsFreedOnceAllHaveHadItOrItIsOverwritten) {
  Lives lives;
  auto [tx, rx] = broadcast<Life>(2);
  std::optional<BroadcastReceiver<Life>> second(rx);
  EXPECT_TRUE(tx.send(Life(lives)).has_value());
  EXPECT_EQ(lives.alive(), 1);
  (void)rx.try_recv();
  EXPECT_EQ(lives.alive(), 1);
  (void)second->try_recv();
  EXPECT_EQ(lives.alive(), 0) << "all have had it";
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(tx.send(Life(lives)).has_value());
  EXPECT_EQ(lives.alive(), 2) << "three were overwritten";
  (void)rx.try_recv();
  (void)rx.try_recv();
  EXPECT_EQ(lives.alive(), 2);
  second.reset();
  EXPECT_EQ(lives.alive(), 0) << "nobody is left to have them";
}

TEST(Broadcast, AValueLeftInTheChannelIsFreedWithIt) {
  Lives lives;
  {
    auto [tx, rx] = broadcast<Life>(2);
    EXPECT_TRUE(tx.send(Life(lives)).has_value());
  }
  EXPECT_EQ(lives.alive(), 0);
}

TEST(Broadcast, TheLastReceiverGetsTheValueItselfTheOthersACopy) {
  auto [tx, rx] = broadcast<std::shared_ptr<int>>(2);
  auto second = rx;
  auto value = std::make_shared<int>(1);
  EXPECT_TRUE(tx.send(value).has_value());
  const auto first_copy = rx.try_recv();
  EXPECT_EQ(value.use_count(), 3);
  const auto moved = second.try_recv();
  EXPECT_EQ(value.use_count(), 3) << "moved, not copied";
}

TEST(Broadcast, AsAStreamItGivesAllValuesAndThenEnds) {
  auto [tx, rx] = broadcast<int>(2);
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(rx.poll_next(cx).is_pending());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(tx.send(i).has_value());
  EXPECT_EQ(waker.count(), 1U);
  EXPECT_EQ(rx.poll_next(cx).value(), 1);
  EXPECT_EQ(rx.missed(), 1U);
  {
    const auto gone = std::move(tx);
  }
  EXPECT_EQ(rx.poll_next(cx).value(), 2);
  EXPECT_EQ(rx.poll_next(cx).value(), std::nullopt);
}

TEST(Broadcast, AReceiverThatMovesWhileSomebodyWaitsWakesThem) {
  auto [tx, rx] = broadcast<int>(2);
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(rx.poll_next(cx).is_pending());
  auto moved = std::move(rx);
  EXPECT_EQ(waker.count(), 1U);
  EXPECT_TRUE(moved.poll_next(cx).is_pending());
  EXPECT_TRUE(tx.send(1).has_value());
  EXPECT_EQ(waker.count(), 2U);
  EXPECT_EQ(moved.try_recv(), 1);
}

TEST(Broadcast, RecvDroppedAtEachPollLosesNoValue) {
  auto [tx, rx] = broadcast<int>(8);
  auto& sender = tx;
  auto& receiver = rx;
  const auto report = drop_at_each_poll([&] { return receiver.recv(); },
                                        [&](std::size_t) { (void)sender.send(1); });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
  EXPECT_TRUE(rx.empty());
  {
    PollHarness dropped(rx.recv());
    EXPECT_TRUE(dropped.poll().is_pending());
    EXPECT_TRUE(tx.send(2).has_value());
  }
  EXPECT_EQ(rx.try_recv(), 2);
}

TEST(Broadcast, TakesFromTheBudget) {
  auto [tx, rx] = broadcast<int>(2);
  EXPECT_TRUE(tx.send(1).has_value());
  CountingWaker waker;
  Context none(waker.waker(), 0);
  EXPECT_TRUE(rx.poll_next(none).is_pending());
  EXPECT_EQ(waker.count(), 1U);
  EXPECT_EQ(rx.try_recv(), 1);
}

TEST(Broadcast, AWakerThatReEntersCausesNoDeadlock) {
  auto [tx, rx] = broadcast<int>(2);
  auto& sender = tx;
  ReentrantWaker waker([&] {
    auto other = sender.subscribe();
    (void)sender.send(1);
    (void)other.try_recv();
  });
  Context cx(waker.waker());
  {
    auto receive = rx.recv();
    (void)receive.poll(cx);
    while (rx.try_recv()) {
    }
    (void)poll_once(receive);
    (void)receive.poll(cx);
  }
  auto closed = tx.closed();
  (void)closed.poll(cx);
  {
    const auto gone = std::move(rx);
  }
  EXPECT_GT(waker.clones(), 0);
  EXPECT_GT(waker.drops(), 0);
}

/// Its copies and its end use the channel.
struct Reenters {
  explicit Reenters(BroadcastSender<Reenters>* to) : sender(to) {}
  Reenters(const Reenters& other) : sender(other.sender) { use(); }
  ~Reenters() { use(); }
  void use() const { (void)sender->subscribe().size(); }
  BroadcastSender<Reenters>* sender;
};
TEST(Broadcast, AValueWhoseCopyAndEndReEnterCausesNoDeadlock) {
  auto [tx, rx] = broadcast<Reenters>(1);
  auto second = rx;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(tx.send(&tx).has_value());
  (void)rx.try_recv();
  {
    const auto gone = std::move(second);
  }
  EXPECT_TRUE(tx.send(&tx).has_value());
  {
    const auto gone = std::move(rx);
  }
}

struct ThrowsWhenCopied {
  explicit ThrowsWhenCopied(int) {}
  ThrowsWhenCopied(const ThrowsWhenCopied&) { throw std::runtime_error("copied"); }
};
TEST(Broadcast, AValueThatThrowsWhenItIsCopiedIsLostForThatReceiver) {
  auto [tx, rx] = broadcast<ThrowsWhenCopied>(2);
  EXPECT_TRUE(tx.send(1).has_value());
  EXPECT_THROW((void)rx.try_recv(), std::runtime_error);
  EXPECT_FALSE(rx.try_recv().has_value());
}

template <class Executor>
class BroadcastOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(BroadcastOn, HostedExecutors, ExecutorNames);

Async<void> count_all(BroadcastReceiver<int> rx, std::atomic<std::uint64_t>& sum) {
  std::uint64_t received = 0;
  int last = -1;
  while (auto value = co_await rx.recv()) {
    EXPECT_EQ(*value, last + 1 + static_cast<int>(value.lagged()));
    last = *value;
    received += 1 + value.lagged();
  }
  sum += received;
}
Async<void> send_all(BroadcastSender<int> tx, int count) {
  for (int i = 0; i < count; ++i) {
    (void)tx.send(i);
    if (i % 7 == 0) co_await yield_now();
  }
}
TYPED_TEST(BroadcastOn, EveryReceiverHasOrMissedEveryValue) {
  std::atomic<std::uint64_t> sum{0};
  auto [tx, rx] = broadcast<int>(4);
  for (int i = 0; i < 3; ++i) this->executor.spawn(count_all(rx, sum));
  {
    const auto gone = std::move(rx);
  }
  this->executor.run(send_all(std::move(tx), 1000));
  EXPECT_EQ(sum, 3000U);
}

constexpr std::size_t threads = 3;
constexpr std::size_t capacity = 2;
struct BroadcastModel {
  struct Op {
    std::size_t thread = 0;
    int value = 0;  // 0: receive
    friend std::ostream& operator<<(std::ostream& out, const Op& op) {
      return op.value == 0 ? out << "receive" : out << "send(" << op.value << ')';
    }
  };
  using Result = std::pair<int, std::uint64_t>;  // the value and how many were missed; 0: none

  Result apply(const Op& op) {
    if (op.value != 0) {
      sent.push_back(op.value);
      return {static_cast<int>(threads), 0};
    }
    std::size_t& mine = next[op.thread];
    if (mine == sent.size()) return {0, 0};
    const std::size_t oldest = sent.size() > capacity ? sent.size() - capacity : 0;
    const std::size_t first = std::max(mine, oldest);
    const Result result(sent[first], first - mine);
    mine = first + 1;
    return result;
  }
  auto operator<=>(const BroadcastModel&) const = default;

  std::deque<int> sent;
  std::array<std::size_t, threads> next{};
};

struct BroadcastToThreads {
  BroadcastToThreads() : BroadcastToThreads(broadcast<int>(capacity)) {}
  explicit BroadcastToThreads(std::pair<BroadcastSender<int>, BroadcastReceiver<int>> channel)
      : senders(threads, channel.first), receivers(threads, channel.second) {}
  std::vector<BroadcastSender<int>> senders;
  std::vector<BroadcastReceiver<int>> receivers;
};

TEST(Broadcast, IsLinearizable) {
  const auto report = check_histories<BroadcastModel>(
      HistoryOptions(), [] { return BroadcastModel(); },
      [] { return std::make_unique<BroadcastToThreads>(); },
      [](Random& random, std::size_t thread) {
        BroadcastModel::Op op;
        op.thread = thread;
        if (random() % 2 == 0) op.value = 1 + static_cast<int>(random() % 1000);
        return op;
      },
      [](BroadcastToThreads& all, std::size_t thread, const BroadcastModel::Op& op) {
        if (op.value != 0) {
          const auto receivers = all.senders[thread].send(op.value);
          return BroadcastModel::Result(static_cast<int>(receivers.value()), 0);
        }
        const auto received = all.receivers[thread].try_recv();
        return BroadcastModel::Result(received.value_or(0), received.lagged());
      });
  EXPECT_EQ(report.violation, "");
  EXPECT_GT(report.overlapping, 0U);
}

}  // namespace
