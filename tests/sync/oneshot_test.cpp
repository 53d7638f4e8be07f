#include "rouse/sync/oneshot.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/select.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"
#include "support/sanitizer.hpp"
#include "sync/executors.hpp"
#include "sync/reentrant_waker.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::sync::oneshot;
using rouse::testing::CountingWaker;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

static_assert(sizeof(sync::OneshotSender<int>) == sizeof(void*));
static_assert(sizeof(sync::OneshotReceiver<int>) == sizeof(void*));
static_assert(sizeof(sync::OneshotReceiver<int>::Recv) == sizeof(void*));
static_assert(sizeof(internal::OneshotBlock<int>) == 48);

TEST(Oneshot, AValueSentBeforeIsThereAtOnce) {
  auto [tx, rx] = oneshot<std::string>();
  EXPECT_TRUE(tx.send("hello").has_value());
  EXPECT_TRUE(tx.is_closed());
  EXPECT_EQ(poll_once(rx).value(), "hello");
  EXPECT_EQ(poll_once(rx).value(), std::nullopt) << "no second value will come";
}

TEST(Oneshot, TheReceiverThatWaitsIsWoken) {
  auto [tx, rx] = oneshot<int>();
  PollHarness receive(std::move(rx));
  EXPECT_TRUE(receive.poll().is_pending() && receive.kept_waker());
  EXPECT_TRUE(tx.send(7).has_value());
  EXPECT_TRUE(receive.is_woken());
  EXPECT_EQ(receive.poll().value(), 7);
  EXPECT_EQ(receive.waker().clones(), 0U);
}

TEST(Oneshot, ASenderThatGoesTellsThatNothingWillCome) {
  auto [tx, rx] = oneshot<int>();
  PollHarness receive(rx.recv());
  EXPECT_TRUE(receive.poll().is_pending());
  {
    const auto gone = std::move(tx);
  }
  EXPECT_TRUE(receive.is_woken());
  EXPECT_EQ(receive.poll().value(), std::nullopt);
}

TEST(Oneshot, SendFailsOnceTheReceiverIsGone) {
  auto [tx, rx] = oneshot<std::unique_ptr<int>>();
  {
    const auto gone = std::move(rx);
  }
  EXPECT_TRUE(tx.is_closed());
  EXPECT_EQ(tx.send(std::make_unique<int>(1)).error(), std::errc::broken_pipe);
}

TEST(Oneshot, AValueNobodyTookIsDroppedWithTheReceiver) {
  Lives lives;
  {
    auto [tx, rx] = oneshot<Life>();
    EXPECT_TRUE(tx.send(Life(lives)).has_value());
    EXPECT_EQ(lives.alive(), 1);
  }
  EXPECT_EQ(lives.alive(), 0);
}

TEST(Oneshot, AValueThatCouldNotBeSentIsDropped) {
  Lives lives;
  auto [tx, rx] = oneshot<Life>();
  rx.close();
  EXPECT_FALSE(tx.send(Life(lives)).has_value());
  EXPECT_EQ(lives.alive(), 0);
}

TEST(Oneshot, CloseRefusesLaterValuesAndKeepsEarlierOnes) {
  {
    auto [tx, rx] = oneshot<int>();
    EXPECT_TRUE(tx.send(1).has_value());
    rx.close();
    EXPECT_EQ(rx.try_recv(), 1);
  }
  auto [tx, rx] = oneshot<int>();
  rx.close();
  EXPECT_EQ(poll_once(rx).value(), std::nullopt) << "none can come any more";
  EXPECT_TRUE(tx.is_closed());
  EXPECT_FALSE(tx.send(1).has_value());
  EXPECT_EQ(rx.try_recv(), std::nullopt);
}

TEST(Oneshot, TheSenderLearnsThatTheReceiverWent) {
  auto [tx, rx] = oneshot<int>();
  PollHarness closed(tx.closed());
  EXPECT_TRUE(closed.poll().is_pending() && closed.kept_waker());
  {
    const auto gone = std::move(rx);
  }
  EXPECT_TRUE(closed.is_woken() && closed.poll().is_ready());
}

TEST(Oneshot, TheSenderLearnsThatTheReceiverClosed) {
  auto [tx, rx] = oneshot<int>();
  PollHarness closed(tx.closed());
  EXPECT_TRUE(closed.poll().is_pending());
  rx.close();
  EXPECT_TRUE(closed.is_woken() && closed.poll().is_ready());
}

TEST(Oneshot, AValueMayBeSentWhileTheSenderWaitsForTheEnd) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto [tx, rx] = oneshot<int>();
  auto closed = tx.closed();
  EXPECT_TRUE(closed.poll(cx).is_pending());
  EXPECT_TRUE(tx.send(3).has_value());
  EXPECT_EQ(waker.clones(), 0U);
  EXPECT_EQ(rx.try_recv(), 3);
  EXPECT_TRUE(closed.poll(cx).is_ready());
}

TEST(Oneshot, TryRecvGivesTheValueOnceItIsThere) {
  auto [tx, rx] = oneshot<int>();
  EXPECT_EQ(rx.try_recv(), std::nullopt);
  EXPECT_TRUE(tx.send(5).has_value());
  EXPECT_EQ(rx.try_recv(), 5);
  EXPECT_EQ(rx.try_recv(), std::nullopt);
}

TEST(Oneshot, AVoidChannelTellsWhetherItWasSent) {
  auto [tx, rx] = oneshot<void>();
  PollHarness receive(rx.recv());
  EXPECT_TRUE(receive.poll().is_pending());
  EXPECT_TRUE(tx.send().has_value());
  EXPECT_TRUE(receive.is_woken());
  EXPECT_TRUE(receive.poll().value());
  EXPECT_FALSE(rx.try_recv());
}

TEST(Oneshot, TheWakerOfTheLatestPollIsWoken) {
  auto [tx, rx] = oneshot<int>();
  PollHarness receive(rx.recv());
  EXPECT_TRUE(receive.poll().is_pending());
  EXPECT_TRUE(receive.poll().is_pending());
  EXPECT_EQ(receive.waker().clones_made(), 1U);
  CountingWaker other;
  Context cx(other.waker());
  EXPECT_TRUE(receive.future().poll(cx).is_pending());
  EXPECT_EQ(receive.waker().clones(), 0U);
  EXPECT_TRUE(tx.send(1).has_value());
  EXPECT_FALSE(receive.is_woken());
  EXPECT_EQ(other.count(), 1U);
}

TEST(Oneshot, RecvDroppedAtEachPollLosesNoValue) {
  auto channel = oneshot<int>();
  const auto report = drop_at_each_poll(
      [&] {
        channel = oneshot<int>();
        return channel.second.recv();
      },
      [&](std::size_t) { EXPECT_TRUE(channel.first.send(1).has_value()); },
      [&](std::size_t k) {
        if (k < 2) (void)channel.first.send(2);
        EXPECT_EQ(channel.second.try_recv().has_value(), k < 2);
      });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(Oneshot, RecvDroppedAfterItWasWokenLosesNoValue) {
  auto [tx, rx] = oneshot<int>();
  {
    PollHarness receive(rx.recv());
    EXPECT_TRUE(receive.poll().is_pending());
    EXPECT_TRUE(tx.send(4).has_value());
  }
  EXPECT_EQ(rx.try_recv(), 4);
}

TEST(Oneshot, ClosedDroppedAtEachPollLeavesNoWaker) {
  auto channel = oneshot<int>();
  const auto report = drop_at_each_poll(
      [&] {
        channel = oneshot<int>();
        return channel.first.closed();
      },
      [&](std::size_t) { channel.second.close(); });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(Oneshot, AWakerThatReEntersCausesNoDeadlock) {
  auto [tx, rx] = oneshot<int>();
  ReentrantWaker waker([&] {
    (void)tx.is_closed();
    (void)rx.try_recv();
    rx.close();
  });
  Context cx(waker.waker());
  auto receive = rx.recv();
  auto closed = tx.closed();
  (void)receive.poll(cx);
  (void)closed.poll(cx);
  EXPECT_FALSE(tx.send(1).has_value()) << "cloning closed it";
  EXPECT_GT(waker.clones(), 0);
}

TEST(Oneshot, ReceivingTakesFromTheBudget) {
  auto [tx, rx] = oneshot<int>();
  EXPECT_TRUE(tx.send(1).has_value());
  CountingWaker waker;
  Context none(waker.waker(), 0);
  EXPECT_TRUE(rx.poll(none).is_pending());
  EXPECT_EQ(waker.count(), 1U);
  EXPECT_EQ(rx.try_recv(), 1);
}

struct ThrowsWhenMoved {
  explicit ThrowsWhenMoved(int) {}
  ThrowsWhenMoved(ThrowsWhenMoved&&) { throw std::runtime_error("moved"); }
};
TEST(Oneshot, AValueThatThrowsWhenItIsTakenIsGone) {
  auto [tx, rx] = oneshot<ThrowsWhenMoved>();
  EXPECT_TRUE(tx.send(1).has_value());
  EXPECT_THROW((void)rx.try_recv(), std::runtime_error);
  EXPECT_FALSE(rx.try_recv().has_value());
}
struct ThrowsWhenMade {
  explicit ThrowsWhenMade(int) { throw std::runtime_error("made"); }
};
TEST(Oneshot, AValueThatThrowsWhenItIsMadeWasNotSent) {
  auto [tx, rx] = oneshot<ThrowsWhenMade>();
  EXPECT_THROW((void)tx.send(1), std::runtime_error);
  EXPECT_FALSE(tx.is_closed());
  EXPECT_TRUE(poll_once(rx).is_pending());
}

template <class Executor>
class OneshotOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(OneshotOn, HostedExecutors, ExecutorNames);

Async<void> answer(sync::OneshotReceiver<int> question, sync::OneshotSender<int> reply) {
  const auto asked = co_await question;
  if (asked) (void)reply.send(*asked + 1);
}
template <class Executor>
Async<int> ask(Executor& executor, int times) {
  int sum = 0;
  for (int i = 0; i < times; ++i) {
    auto [ask_tx, ask_rx] = oneshot<int>();
    auto [reply_tx, reply_rx] = oneshot<int>();
    executor.spawn(answer(std::move(ask_rx), std::move(reply_tx)));
    if (i % 2 == 0) co_await yield_now();
    if (i % 3 != 0) (void)ask_tx.send(i);
    if (i % 3 == 0) const auto dropped = std::move(ask_tx);
    const std::optional<int> reply = co_await reply_rx.recv();
    sum += reply.value_or(0);
  }
  co_return sum;
}
TYPED_TEST(OneshotOn, QuestionsAreAnswered) {
  int expected = 0;
  for (int i = 0; i < 90; ++i) expected += i % 3 != 0 ? i + 1 : 0;
  EXPECT_EQ(this->executor.run(ask(this->executor, 90)), expected);
}

// Both sides end in every order; ASan sees a block freed twice or never, TSan a race for it.
TEST(OneshotStress, BothSidesMayEndAtTheSameTime) {
  const int rounds = sanitized ? 500 : 3000;
  int received = 0;
  int sent = 0;
  for (int i = 0; i < rounds; ++i) {
    auto [tx, rx] = oneshot<std::unique_ptr<int>>();
    std::atomic<int> ready{0};
    std::thread sender([&ready, &sent, i, mine = std::move(tx)]() mutable {
      ++ready;
      while (ready != 2) std::this_thread::yield();
      if (i % 4 == 0) {
        const auto gone = std::move(mine);
      } else {
        sent += mine.send(std::make_unique<int>(i)).has_value() ? 1 : 0;
      }
    });
    ++ready;
    while (ready != 2) std::this_thread::yield();
    if (i % 3 == 0) {
      received += block_on(rx).has_value() ? 1 : 0;
    } else if (i % 3 == 1) {
      received += poll_once(rx).is_ready() && i % 4 != 0 ? 1 : 0;
      auto gone = std::move(rx);
    } else {
      CountingWaker waker;
      Context cx(waker.waker());
      auto waiting = rx.recv();
      if (waiting.poll(cx).is_pending()) (void)poll_once(waiting);
      rx.close();
    }
    sender.join();
  }
  EXPECT_GE(sent, received);
  EXPECT_GT(received, rounds / 6);
}

}  // namespace
