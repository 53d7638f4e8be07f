#include "rouse/sync/channel.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "sync/reentrant_waker.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using namespace rouse::sync;
using rouse::testing::CountingWaker;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

static_assert(sizeof(Send<int>) == 56);
static_assert(sizeof(Recv<int>) == 48);
static_assert(sizeof(Reserve<int>) == 48);
static_assert(std::is_copy_constructible_v<Sender<int>>);
static_assert(!std::is_copy_constructible_v<Receiver<int>>, "clone() says what happens");

constexpr auto full = std::errc::resource_unavailable_try_again;
constexpr auto nobody_receives = std::errc::broken_pipe;

TEST(Channel, MessagesArriveInTheOrderTheyWereSent) {
  auto [tx, rx] = channel<int>(4);
  for (int lap = 0; lap < 10; ++lap) {
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(tx.try_send(lap * 4 + i));
    EXPECT_EQ(tx.try_send(99).error(), full);
    EXPECT_EQ(rx.size(), 4U);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(rx.try_recv(), lap * 4 + i);
    EXPECT_EQ(rx.try_recv(), std::nullopt);
  }
}

TEST(Channel, ItsCapacityIsWhatWasAskedFor) {
  for (std::size_t capacity = 1; capacity < 9; ++capacity) {
    auto [tx, rx] = channel<int>(capacity);
    EXPECT_EQ(tx.max_capacity(), capacity);
    for (std::size_t i = 0; i < capacity; ++i) {
      EXPECT_EQ(tx.capacity(), capacity - i);
      EXPECT_TRUE(tx.try_send(1));
    }
    EXPECT_FALSE(tx.try_send(1));
    EXPECT_EQ(rx.try_recv(), 1);
    EXPECT_TRUE(tx.try_send(1));
    EXPECT_FALSE(tx.try_send(1));
  }
}

TEST(Channel, AMessageThatCanNotBeSentStaysWithItsSender) {
  auto [tx, rx] = channel<std::unique_ptr<int>>(1);
  EXPECT_TRUE(tx.try_send(std::make_unique<int>(1)));
  auto message = std::make_unique<int>(2);
  EXPECT_FALSE(tx.try_send(std::move(message)));
  ASSERT_TRUE(message);  // NOLINT(bugprone-use-after-move): that is what is promised
  EXPECT_EQ(**rx.try_recv(), 1);
}

TEST(Channel, AReceiverThatWaitsIsWokenByASend) {
  auto [tx, rx] = channel<int>(2);
  PollHarness recv(rx.recv());
  EXPECT_TRUE(recv.poll().is_pending() && recv.kept_waker());
  EXPECT_TRUE(tx.try_send(5));
  EXPECT_TRUE(recv.is_woken());
  EXPECT_EQ(recv.poll().value(), 5);
}

TEST(Channel, SendersThatWaitGetRoomInTurnAndNobodyOvertakes) {
  auto [tx, rx] = channel<int>(1);
  EXPECT_TRUE(tx.try_send(0));
  PollHarness first(tx.send(1));
  PollHarness second(tx.send(2));
  EXPECT_TRUE(first.poll().is_pending() && first.kept_waker());
  EXPECT_TRUE(second.poll().is_pending());
  EXPECT_EQ(rx.try_recv(), 0);
  EXPECT_TRUE(first.is_woken());
  EXPECT_FALSE(second.is_woken());
  EXPECT_EQ(tx.try_send(9).error(), full) << "the room is the first one's";
  EXPECT_TRUE(first.poll().value());
  EXPECT_EQ(rx.try_recv(), 1);
  EXPECT_TRUE(second.is_woken() && second.poll().value());
  EXPECT_EQ(rx.try_recv(), 2);
  EXPECT_TRUE(tx.try_send(3));
}

TEST(Channel, EndsWhenAllSendersAreGoneAndEverythingIsReceived) {
  std::optional<std::pair<Sender<int>, Receiver<int>>> both(channel<int>(4));
  Receiver<int> rx = std::move(both->second);
  std::optional<Sender<int>> copy(both->first);
  EXPECT_EQ(copy->strong_count(), 2U);
  EXPECT_TRUE(both->first.try_send(1));
  both.reset();
  EXPECT_FALSE(rx.is_closed());
  EXPECT_TRUE(copy->try_send(2));
  PollHarness recv(rx.recv());
  EXPECT_EQ(recv.poll().value(), 1);
  EXPECT_EQ(PollHarness(rx.recv()).poll().value(), 2);
  PollHarness last(rx.recv());
  EXPECT_TRUE(last.poll().is_pending());
  copy.reset();
  EXPECT_TRUE(last.is_woken() && rx.is_closed());
  EXPECT_EQ(last.poll().value(), std::nullopt);
  EXPECT_EQ(PollHarness(rx.recv()).poll().value(), std::nullopt);
}

TEST(Channel, ClosedByTheReceiverItRefusesNewMessagesAndGivesTheOldOnes) {
  auto [tx, rx] = channel<int>(1);
  EXPECT_TRUE(tx.try_send(1));
  PollHarness waiting(tx.send(2));
  PollHarness closed(tx.closed());
  EXPECT_TRUE(waiting.poll().is_pending());
  EXPECT_TRUE(closed.poll().is_pending());
  rx.close();
  EXPECT_TRUE(tx.is_closed() && waiting.is_woken() && closed.is_woken());
  EXPECT_EQ(waiting.poll().value().error(), nobody_receives);
  EXPECT_TRUE(closed.poll().is_ready());
  EXPECT_EQ(tx.try_send(3).error(), nobody_receives);
  EXPECT_EQ(PollHarness(tx.send(3)).poll().value().error(), nobody_receives);
  EXPECT_TRUE(PollHarness(tx.closed()).poll().is_ready());
  EXPECT_EQ(PollHarness(rx.recv()).poll().value(), 1);
  EXPECT_EQ(PollHarness(rx.recv()).poll().value(), std::nullopt);
}

TEST(Channel, WithoutAReceiverSendsFailAndMessagesAreDestroyedAtOnce) {
  auto message = std::make_shared<int>(1);
  auto [tx, rx] = channel<std::shared_ptr<int>>(4);
  EXPECT_TRUE(tx.try_send(message));
  EXPECT_TRUE(tx.try_send(message));
  EXPECT_EQ(message.use_count(), 3);
  {
    const auto ended = std::move(rx);
  }
  EXPECT_EQ(message.use_count(), 1);
  EXPECT_EQ(tx.try_send(message).error(), nobody_receives);
  EXPECT_EQ(message.use_count(), 1);
}

TEST(Channel, APermitIsRoomThatNobodyElseGets) {
  auto [tx, rx] = channel<int>(1);
  auto permit = tx.try_reserve();
  ASSERT_TRUE(permit);
  EXPECT_EQ(tx.capacity(), 0U);
  EXPECT_EQ(tx.try_send(1).error(), full);
  EXPECT_FALSE(tx.try_reserve());
  PollHarness reserve(tx.reserve());
  EXPECT_TRUE(reserve.poll().is_pending());
  EXPECT_TRUE(permit.send(7));
  EXPECT_FALSE(permit);
  EXPECT_EQ(permit.send(8).error(), nobody_receives) << "it was used";
  EXPECT_EQ(rx.try_recv(), 7);
  EXPECT_TRUE(reserve.is_woken());
  EXPECT_TRUE(reserve.poll().value());
  EXPECT_TRUE(tx.try_send(1)) << "the permit was given back";
}

TEST(Channel, APermitIsGoodAlsoAfterTheChannelWasClosed) {
  auto [tx, rx] = channel<int>(2);
  auto used = tx.try_reserve();
  auto unused = tx.try_reserve();
  rx.close();
  EXPECT_FALSE(PollHarness(tx.reserve()).poll().value());
  PollHarness recv(rx.recv());
  EXPECT_TRUE(recv.poll().is_pending()) << "two messages may still come";
  EXPECT_TRUE(used.send(1));
  EXPECT_EQ(recv.poll().value(), 1);
  PollHarness last(rx.recv());
  EXPECT_TRUE(last.poll().is_pending());
  {
    const auto given_back = std::move(unused);
  }
  EXPECT_TRUE(last.is_woken());
  EXPECT_EQ(last.poll().value(), std::nullopt);
}

TEST(Channel, APermitKeepsTheChannelOpen) {
  auto [tx, rx] = channel<int>(2);
  auto permit = tx.try_reserve();
  {
    const auto ended = std::move(tx);
  }
  EXPECT_FALSE(rx.is_closed());
  EXPECT_TRUE(permit.send(1));
  EXPECT_TRUE(rx.is_closed());
  EXPECT_EQ(rx.try_recv(), 1);
}

TEST(Channel, AWeakSenderKeepsNothingOpen) {
  auto [tx, rx] = channel<int>(2);
  auto weak = tx.downgrade();
  {
    auto strong = weak.upgrade();
    ASSERT_TRUE(strong);
    EXPECT_TRUE(strong->same_channel(tx));
    EXPECT_TRUE(strong->try_send(1));
  }
  {
    const auto ended = std::move(tx);
  }
  EXPECT_TRUE(rx.is_closed());
  EXPECT_FALSE(weak.upgrade());
  EXPECT_EQ(rx.try_recv(), 1);
}

TEST(Channel, RecvManyTakesWhatIsThereUpToTheLimit) {
  auto [tx, rx] = channel<int>(8);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(tx.try_send(i));
  std::vector<int> messages{-1};
  EXPECT_EQ(PollHarness(rx.recv_many(messages, 3)).poll().value(), 3U);
  EXPECT_EQ(PollHarness(rx.recv_many(messages, 100)).poll().value(), 2U);
  EXPECT_EQ(messages, (std::vector<int>{-1, 0, 1, 2, 3, 4}));
  EXPECT_EQ(PollHarness(rx.recv_many(messages, 0)).poll().value(), 0U);
  PollHarness waiting(rx.recv_many(messages, 2));
  EXPECT_TRUE(waiting.poll().is_pending());
  {
    const auto ended = std::move(tx);
  }
  EXPECT_EQ(waiting.poll().value(), 0U);
}

TEST(Channel, EachMessageGoesToOneOfSeveralReceivers) {
  auto [tx, rx] = channel<int>(4);
  auto other = rx.clone();
  PollHarness first(rx.recv());
  PollHarness second(other.recv());
  EXPECT_TRUE(first.poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  EXPECT_TRUE(tx.try_send(1));
  EXPECT_TRUE(first.is_woken());
  EXPECT_FALSE(second.is_woken());
  EXPECT_TRUE(tx.try_send(2));
  EXPECT_TRUE(second.is_woken());
  EXPECT_EQ(first.poll().value(), 1);
  EXPECT_EQ(second.poll().value(), 2);
  {
    const auto ended = std::move(rx);
  }
  EXPECT_FALSE(tx.is_closed());
  EXPECT_TRUE(tx.try_send(3));
  EXPECT_EQ(other.try_recv(), 3);
}

TEST(Channel, AWakeThatADroppedReceiverDidNotUseGoesToTheNext) {
  auto [tx, rx] = channel<int>(4);
  auto other = rx.clone();
  std::optional<PollHarness<Recv<int>>> first(std::in_place, rx.recv());
  PollHarness second(other.recv());
  EXPECT_TRUE(first->poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  EXPECT_TRUE(tx.try_send(1));
  first.reset();
  EXPECT_TRUE(second.is_woken());
  EXPECT_EQ(second.poll().value(), 1);
}

TEST(Channel, WhatItsHandlesSayOfThemselves) {
  auto [tx, rx] = channel<int>(3);
  const Sender<int> copy = tx.clone();
  EXPECT_TRUE(copy.try_send(1));
  EXPECT_EQ(rx.size(), 1U);
  EXPECT_EQ(rx.capacity(), 2U);
  EXPECT_EQ(rx.max_capacity(), 3U);
  EXPECT_EQ(rx.sender_count(), 2U);
  auto [to, from] = unbounded<int>();
  EXPECT_TRUE(to.clone().try_send(1));
  EXPECT_FALSE(from.empty());
}

TEST(ChannelDeathTest, AFutureIsNotPolledAfterItWasReady) {
  auto [tx, rx] = channel<int>(3);
  auto send = tx.send(1);
  Context cx(Waker::noop());
  EXPECT_TRUE(send.poll(cx).is_ready());
  EXPECT_DEATH((void)send.poll(cx), "polled again after it was ready");
}

TEST(Channel, IsAStreamThatMayBeMovedWhileItWaits) {
  auto [tx, rx] = channel<int>(2);
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(rx.poll_next(cx).is_pending());
  Receiver<int> moved = std::move(rx);
  EXPECT_EQ(waker.count(), 1U) << "to poll it at its new place";
  EXPECT_EQ(waker.clones(), 0U);
  EXPECT_TRUE(moved.poll_next(cx).is_pending());
  EXPECT_TRUE(tx.try_send(1));
  EXPECT_EQ(waker.count(), 2U);
  EXPECT_EQ(moved.poll_next(cx).value(), 1);
}

TEST(Channel, FuturesDroppedAtEachPollStrandNothing) {
  auto [tx, rx] = channel<int>(1);
  Sender<int>& to = tx;
  Receiver<int>& from = rx;
  auto fill = [&] { EXPECT_TRUE(to.try_send(0)); };
  auto make_room = [&](std::size_t) { EXPECT_TRUE(from.try_recv()); };
  auto works = [&](std::size_t k) {
    while (from.try_recv()) {
    }
    EXPECT_TRUE(to.try_send(1)) << k;
    EXPECT_EQ(from.try_recv(), 1) << k;
  };
  const auto sends = drop_at_each_poll([&] { return fill(), to.send(2); }, make_room, works);
  const auto reserves = drop_at_each_poll([&] { return fill(), to.reserve(); }, make_room, works);
  const auto recvs =
      drop_at_each_poll([&] { return from.recv(); }, [&](std::size_t) { fill(); }, works);
  std::vector<int> messages;
  const auto many = drop_at_each_poll([&] { return from.recv_many(messages, 2); },
                                      [&](std::size_t) { fill(); }, works);
  EXPECT_EQ(messages.size(), 1U);
  for (const auto& report : {sends, reserves, recvs, many}) {
    EXPECT_EQ(report.polls, 2U);
    EXPECT_EQ(report.wakers_left, 0U);
  }
}

TEST(Channel, AFutureDroppedWhileItWaitsForTheEndLeavesNothing) {
  auto [tx, rx] = channel<int>(1);
  Sender<int>& to = tx;
  std::size_t steps = 0;
  const auto report = drop_at_each_poll([&] { return to.closed(); },
                                        [&](std::size_t) {
                                          if (++steps == 2) rx.close();
                                        });
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(Channel, WakersThatReEnterCauseNoDeadlock) {
  auto [tx, rx] = channel<int>(1);
  Sender<int>& to = tx;
  Receiver<int>& from = rx;
  ReentrantWaker waker([&] {
    (void)from.try_recv();
    (void)to.try_send(3);
    (void)to.try_reserve();
    Context cx(Waker::noop());
    auto send = to.send(4);
    (void)send.poll(cx);
    auto recv = from.recv();
    (void)recv.poll(cx);
    auto closed = to.closed();
    (void)closed.poll(cx);
  });
  Context cx(waker.waker());
  Context other(Waker::noop());
  for (int round = 0; round < 3; ++round) {
    auto send = to.send(1);
    auto another = to.send(2);
    auto recv = from.recv();
    auto closed = to.closed();
    for (Context* each : {&cx, &other, &cx}) {
      for (int i = 0; i < 2; ++i) {
        if (round != 1) (void)from.try_recv();
        if (round == 2) from.close();
      }
      if (auto polled = closed.poll(*each); polled.is_ready()) break;
      if (auto polled = recv.poll(*each); polled.is_ready()) break;
      if (auto polled = send.poll(*each); polled.is_ready()) break;
      if (auto polled = another.poll(*each); polled.is_ready()) break;
    }
  }
  EXPECT_GT(waker.clones(), 0);
  EXPECT_GT(waker.drops(), 0);
}

TEST(Channel, SendsAndReceivesTakeFromTheBudget) {
  auto [tx, rx] = channel<int>(4);
  Context cx(Waker::noop(), 2);
  EXPECT_TRUE(tx.send(1).poll(cx).is_ready());
  EXPECT_TRUE(rx.recv().poll(cx).is_ready());
  EXPECT_TRUE(tx.send(1).poll(cx).is_pending());
  EXPECT_TRUE(tx.try_send(1));
  EXPECT_TRUE(rx.recv().poll(cx).is_pending());
  EXPECT_EQ(rx.size(), 1U);
}

TEST(Unbounded, NeverRefusesAndKeepsTheOrderWhileItGrows) {
  auto [tx, rx] = unbounded<int>();
  int next = 0;
  int expected = 0;
  for (int burst = 1; burst < 3000; burst = burst * 3 / 2 + 1) {
    for (int i = 0; i < burst; ++i) EXPECT_TRUE(tx.send(next++));
    for (int i = 0; i < burst / 2; ++i) EXPECT_EQ(rx.try_recv(), expected++);
  }
  EXPECT_EQ(rx.size(), static_cast<std::size_t>(next - expected));
  while (expected < next) EXPECT_EQ(rx.try_recv(), expected++);
  EXPECT_EQ(rx.try_recv(), std::nullopt);
}

TEST(Unbounded, AReceiverThatWaitsIsWokenAlsoAfterItGrew) {
  auto [tx, rx] = unbounded<int>();
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(tx.send(i));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(rx.try_recv(), i);
  PollHarness recv(rx.recv());
  EXPECT_TRUE(recv.poll().is_pending());
  EXPECT_TRUE(tx.send(7));
  EXPECT_TRUE(recv.is_woken());
  EXPECT_EQ(recv.poll().value(), 7);
  {
    const auto ended = std::move(tx);
  }
  EXPECT_EQ(PollHarness(rx.recv()).poll().value(), std::nullopt);
}

TEST(Unbounded, ASendIsDoneAtOnceAndMayBeAwaited) {
  auto [tx, rx] = unbounded<int>();
  EXPECT_TRUE(PollHarness(tx.send(1)).poll().value());
  EXPECT_EQ(rx.try_recv(), 1);
  auto weak = tx.downgrade();
  EXPECT_TRUE(weak.upgrade()->send(2));
  {
    const auto ended = std::move(rx);
  }
  EXPECT_EQ(tx.send(3).error(), nobody_receives);
}

TEST(Unbounded, WhatIsLeftIsDestroyedWithTheChannel) {
  auto message = std::make_shared<int>(1);
  {
    auto [tx, rx] = unbounded<std::shared_ptr<int>>();
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(tx.send(message));
    EXPECT_EQ(message.use_count(), 101);
  }
  EXPECT_EQ(message.use_count(), 1);
}

struct HoldsItsOwnSender {
  std::unique_ptr<Sender<HoldsItsOwnSender>> tx;
};
TEST(Channel, AMessageMayHoldASenderOfItsOwnChannel) {
  auto [tx, rx] = channel<HoldsItsOwnSender>(2);
  EXPECT_TRUE(tx.try_send({std::make_unique<Sender<HoldsItsOwnSender>>(tx)}));
  {
    const auto ended = std::move(tx);
  }
  EXPECT_FALSE(rx.is_closed());
  {
    const auto ended = std::move(rx);
  }  // destroys the message, which ends the last sender
}

TEST(ChannelDeathTest, ACapacityOfNoneIsRefused) {
  EXPECT_DEATH((void)channel<int>(0), "room for at least 1");
}

TEST(ChannelDeathTest, ASenderThatWasMovedFromIsRefused) {
  auto [tx, rx] = channel<int>(1);
  const auto taken = std::move(tx);
  EXPECT_DEATH((void)tx.try_send(1), "moved from");  // NOLINT(bugprone-use-after-move)
}

}  // namespace
