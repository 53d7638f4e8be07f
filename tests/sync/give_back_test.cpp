// What was not sent is not lost, and a receiver can tell "not yet" from "never".
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/future/by_ref.hpp"
#include "rouse/sync/broadcast.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/oneshot.hpp"
#include "rouse/sync/watch.hpp"
#include "rouse/testing/poll_harness.hpp"

namespace {

using namespace rouse;
using rouse::testing::PollHarness;
using BoxedInt = std::unique_ptr<int>;

TEST(GiveBack, ASendThatFailsKeepsItsMessage) {
  auto [tx, rx] = sync::channel<BoxedInt>(1);
  rx.close();
  auto send = [&]() -> Async<int> {
    auto sending = tx.send(std::make_unique<int>(7));
    const Result<void> sent = co_await sending;
    EXPECT_EQ(sent.error(), std::errc::broken_pipe);
    co_return *sending.message();
  };
  EXPECT_EQ(block_on(send()), 7);
}

TEST(GiveBack, ASendThatIsRefusedWhileItWaitsKeepsItsMessage) {
  auto [tx, rx] = sync::channel<BoxedInt>(1);
  ASSERT_TRUE(tx.try_send(std::make_unique<int>(1)));
  auto sending = tx.send(std::make_unique<int>(2));
  PollHarness waits(by_ref(sending));
  EXPECT_TRUE(waits.poll().is_pending());
  rx.close();
  const auto sent = waits.poll();
  ASSERT_TRUE(sent.is_ready());
  EXPECT_EQ(sent.value().error(), std::errc::broken_pipe);
  EXPECT_EQ(*sending.message(), 2);
}

TEST(GiveBack, ASendThatIsGivenUpHasItsMessage) {
  auto [tx, rx] = sync::channel<BoxedInt>(1);
  ASSERT_TRUE(tx.try_send(std::make_unique<int>(1)));
  BoxedInt back;
  {
    auto sending = tx.send(std::make_unique<int>(2));
    PollHarness waits(by_ref(sending));
    EXPECT_TRUE(waits.poll().is_pending());
    back = std::move(sending.message());
  }
  EXPECT_EQ(*back, 2);
  EXPECT_EQ(**rx.try_recv(), 1);
  EXPECT_FALSE(rx.try_recv());
}

TEST(GiveBack, TrySendTellsFullFromClosedAndLeavesItsMessageInBothCases) {
  auto [tx, rx] = sync::channel<BoxedInt>(1);
  ASSERT_TRUE(tx.try_send(std::make_unique<int>(1)));
  BoxedInt message = std::make_unique<int>(2);
  EXPECT_EQ(tx.try_send(std::move(message)).error(), std::errc::resource_unavailable_try_again);
  ASSERT_NE(message, nullptr);
  rx.close();
  EXPECT_EQ(tx.try_send(std::move(message)).error(), std::errc::broken_pipe);
  ASSERT_NE(message, nullptr);
}

TEST(GiveBack, AnUnboundedSenderLeavesWhatItCouldNotSend) {
  auto [tx, rx] = sync::unbounded<BoxedInt>();
  rx.close();
  BoxedInt message = std::make_unique<int>(2);
  EXPECT_EQ(tx.send(std::move(message)).error(), std::errc::broken_pipe);
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(tx.try_send(std::move(message)).error(), std::errc::broken_pipe);
  EXPECT_EQ(*message, 2);
}

TEST(GiveBack, AnUnboundedSenderStillCopiesAnLvalue) {
  auto [tx, rx] = sync::unbounded<std::vector<int>>();
  const std::vector<int> message{1, 2};
  EXPECT_TRUE(tx.send(message));
  EXPECT_TRUE(tx.send({3}));
  EXPECT_EQ(rx.try_recv(), message);
  EXPECT_EQ(rx.try_recv(), std::vector<int>{3});
}

TEST(GiveBack, AUsedPermitLeavesWhatItCouldNotSend) {
  auto [tx, rx] = sync::channel<BoxedInt>(1);
  auto permit = tx.try_reserve();
  EXPECT_TRUE(permit.send(std::make_unique<int>(1)));
  BoxedInt message = std::make_unique<int>(2);
  EXPECT_EQ(permit.send(std::move(message)).error(), std::errc::broken_pipe);
  EXPECT_EQ(*message, 2);
}

TEST(GiveBack, AOneshotMovesTheValueBack) {
  auto [tx, rx] = sync::oneshot<BoxedInt>();
  rx.close();
  BoxedInt message = std::make_unique<int>(2);
  EXPECT_EQ(tx.send(std::move(message)).error(), std::errc::broken_pipe);
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(*message, 2);
}

TEST(GiveBack, ABroadcastWithoutReceiversLeavesTheValue) {
  auto [tx, rx] = sync::broadcast<std::shared_ptr<int>>(4);
  {
    const auto gone = std::move(rx);
  }
  auto message = std::make_shared<int>(2);
  EXPECT_EQ(tx.send(std::move(message)).error(), std::errc::broken_pipe);
  ASSERT_NE(message, nullptr);
}

TEST(GiveBack, AWatchWithoutReceiversLeavesTheValue) {
  auto [tx, rx] = sync::watch<BoxedInt>(nullptr);
  {
    const auto gone = std::move(rx);
  }
  BoxedInt message = std::make_unique<int>(2);
  EXPECT_EQ(tx.send(std::move(message)).error(), std::errc::broken_pipe);
  ASSERT_NE(message, nullptr);
}

// The last receiver goes while others send: each value is received, left in the channel, or still
// with its sender, in one piece.
TEST(GiveBack, ABroadcastThatLosesItsLastReceiverMeanwhileLosesNoValue) {
  for (int round = 0; round < 200; ++round) {
    auto [tx, rx] = sync::broadcast<std::shared_ptr<int>>(1);
    std::thread leaves([gone = std::move(rx)]() mutable { const auto end = std::move(gone); });
    auto value = std::make_shared<int>(round);
    const bool sent = tx.send(std::move(value)).has_value();
    EXPECT_EQ(value == nullptr, sent);
    leaves.join();
  }
}

TEST(HasEnded, AChannelThatIsOnlyEmptyHasNot) {
  auto [tx, rx] = sync::channel<int>(2);
  EXPECT_FALSE(rx.try_recv());
  EXPECT_FALSE(rx.has_ended());
}

TEST(HasEnded, AClosedChannelHasOnceItWasDrained) {
  auto [tx, rx] = sync::channel<int>(2);
  ASSERT_TRUE(tx.try_send(1));
  rx.close();
  EXPECT_TRUE(rx.is_closed());
  EXPECT_FALSE(rx.has_ended());
  EXPECT_EQ(rx.try_recv(), 1);
  EXPECT_TRUE(rx.has_ended());
}

TEST(HasEnded, AReservationKeepsAClosedChannelGoing) {
  auto [tx, rx] = sync::channel<int>(2);
  auto permit = tx.try_reserve();
  rx.close();
  EXPECT_FALSE(rx.has_ended());
  EXPECT_TRUE(permit.send(1));
  EXPECT_FALSE(rx.has_ended());
  EXPECT_EQ(rx.try_recv(), 1);
  EXPECT_TRUE(rx.has_ended());
}

TEST(HasEnded, AnUnboundedChannelThatGrewHasOnceItWasDrained) {
  auto [tx, rx] = sync::unbounded<int>();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(tx.send(i));
  {
    const auto gone = std::move(tx);
  }
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(rx.has_ended());
    EXPECT_EQ(rx.try_recv(), i);
  }
  EXPECT_TRUE(rx.has_ended());
}

TEST(HasEnded, ABroadcastReceiverHasWhenItHadWhatIsLeft) {
  auto [tx, rx] = sync::broadcast<int>(2);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(tx.send(i));
  EXPECT_FALSE(rx.has_ended());
  {
    const auto gone = std::move(tx);
  }
  const auto first = rx.try_recv();
  EXPECT_EQ(first.lagged(), 1U);
  EXPECT_EQ(*first, 1);
  EXPECT_FALSE(rx.has_ended());
  EXPECT_EQ(*rx.try_recv(), 2);
  EXPECT_TRUE(rx.has_ended());
}

TEST(HasEnded, AOneshotHasWhenNoValueCanCome) {
  auto [tx, rx] = sync::oneshot<int>();
  EXPECT_FALSE(rx.has_ended());
  ASSERT_TRUE(tx.send(1));
  EXPECT_FALSE(rx.has_ended());
  EXPECT_EQ(rx.try_recv(), 1);
  EXPECT_TRUE(rx.has_ended());

  auto [dropped, waits] = sync::oneshot<int>();
  {
    const auto gone = std::move(dropped);
  }
  EXPECT_TRUE(waits.has_ended());
  auto [late, closed] = sync::oneshot<int>();
  closed.close();
  EXPECT_TRUE(closed.has_ended());
}

// A poller that stops when it has ended has received everything, whatever the senders' timing.
TEST(HasEnded, APollerThatTrustsItMissesNothing) {
  for (int round = 0; round < 20; ++round) {
    auto [tx, rx] = sync::channel<int>(8);
    constexpr int count = 500;
    auto send = [](sync::Sender<int> to) {
      for (int i = 0; i < count;) {
        if (to.try_send(i))
          ++i;
        else
          std::this_thread::yield();
      }
    };
    std::thread one(send, tx);
    std::thread two(send, std::move(tx));
    int received = 0;
    while (!rx.has_ended()) {
      if (rx.try_recv()) ++received;
    }
    EXPECT_EQ(received, 2 * count);
    one.join();
    two.join();
  }
}

}  // namespace
