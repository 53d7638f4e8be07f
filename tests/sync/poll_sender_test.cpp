// PollSender: a channel's sender as a sink.
#include "rouse/sync/poll_sender.hpp"

#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/sink.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/stream/forward.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/send.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

namespace rouse::poll_sender_test {
namespace {

static_assert(Sink<sync::PollSender<int>, int>);

TEST(PollSender, WaitsForRoomInTheChannel) {
  auto [tx, rx] = sync::channel<int>(1);
  sync::PollSender sink(tx);
  block_on(stream::send(sink, 1));
  auto sending = stream::send(sink, 2);
  rouse::testing::CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(sending.poll(cx).is_pending());
  EXPECT_EQ(rx.try_recv(), 1);
  EXPECT_EQ(waker.count(), 1U);
  EXPECT_TRUE(sending.poll(cx).is_ready());
  EXPECT_EQ(rx.try_recv(), 2);
}

TEST(PollSender, FailsWhenNobodyReceivesAndAfterItWasClosed) {
  auto [tx, rx] = sync::channel<int>(1);
  sync::PollSender sink(tx);
  block_on(stream::close(sink));
  EXPECT_EQ(tx.strong_count(), 1U) << "its sender is gone";
  EXPECT_EQ(block_on(stream::send(sink, 1).result()).error(), std::errc::broken_pipe);
  sync::PollSender other(tx);
  rx.close();
  EXPECT_EQ(block_on(stream::send(other, 1).result()).error(), std::errc::broken_pipe);
}

TEST(PollSender, MayBeMovedWhileItWaits) {
  auto [tx, rx] = sync::channel<int>(1);
  sync::PollSender sink(tx);
  block_on(stream::send(sink, 1));
  rouse::testing::CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(sink.poll_ready(cx).is_pending());
  sync::PollSender moved = std::move(sink);
  EXPECT_EQ(rx.try_recv(), 1);
  EXPECT_EQ(waker.count(), 1U);
  EXPECT_TRUE(moved.poll_ready(cx).is_ready());
  EXPECT_TRUE(moved.start_send(2));
  EXPECT_EQ(rx.try_recv(), 2);
}

TEST(PollSender, GivesItsRoomBackWhenItIsDroppedOrClosed) {
  auto [tx, rx] = sync::channel<int>(1);
  rouse::testing::CountingWaker waker;
  Context cx(waker.waker());
  {
    sync::PollSender sink(tx);
    EXPECT_TRUE(sink.poll_ready(cx).is_ready());
    EXPECT_EQ(tx.capacity(), 0U);
  }
  EXPECT_EQ(tx.capacity(), 1U);
  sync::PollSender sink(tx);
  EXPECT_TRUE(sink.poll_ready(cx).is_ready());
  EXPECT_TRUE(sink.poll_ready(cx).is_ready()) << "and takes no second place";
  EXPECT_TRUE(sink.poll_close(cx).is_ready());
  EXPECT_EQ(tx.capacity(), 1U);
}

TEST(PollSender, StartSendBeforeItIsReadyIsAbortedWithAMessage) {
  const auto misuse = [] {
    auto [tx, rx] = sync::channel<int>(1);
    sync::PollSender sink(tx);
    (void)sink.start_send(1);
  };
  EXPECT_DEATH(misuse(), "before poll_ready was ready");
}

TEST(PollSender, ASendDroppedAtEachPollLeavesTheChannelUsable) {
  auto channel = sync::channel<int>(1);
  sync::Sender<int>& tx = channel.first;
  sync::Receiver<int>& rx = channel.second;
  std::optional<sync::PollSender<int>> sink;
  const auto report = rouse::testing::drop_at_each_poll(
      [&] {
        sink.emplace(tx);
        block_on(stream::send(*sink, 1));
        return stream::send(*sink, 2);
      },
      [&](std::size_t) { (void)rx.try_recv(); },
      [&](std::size_t) {
        sink.reset();
        while (rx.try_recv()) continue;
        EXPECT_EQ(tx.capacity(), 1U);
      });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_LE(report.wakers_left, 1U) << "the sink itself still waits for room";
}

Async<std::size_t> receive_all(sync::Receiver<int> rx) {
  std::size_t count = 0;
  while (const std::optional<int> number = co_await rx.recv()) {
    EXPECT_EQ(*number, static_cast<int>(count));
    ++count;
  }
  co_return count;
}

TEST(PollSender, ForwardsAStreamToATaskAndThenClosesTheChannel) {
  Runtime runtime;
  auto [tx, rx] = sync::channel<int>(2);
  auto receiving = runtime.spawn(receive_all, std::move(rx));
  std::vector<int> numbers(1000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
  runtime.block_on(
      stream::forward(stream::iter(std::move(numbers)), sync::PollSender(std::move(tx))));
  EXPECT_EQ(runtime.block_on(std::move(receiving)), 1000U);
}

}  // namespace
}  // namespace rouse::poll_sender_test
