// Sinks: send, feed, flush, close, send_all, forward.
#include "rouse/core/sink.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/block_on.hpp"
#include "rouse/stream/forward.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/send.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "stream/support.hpp"

namespace rouse::sink_test {
namespace {

using namespace rouse::test;
using rouse::testing::drop_at_each_poll;
using Numbers = std::vector<int>;

/// Has room for one item, and is pending before everything it does.
class SlowSink {
 public:
  /// From the item `fails_at` on nothing is accepted.
  explicit SlowSink(std::size_t fails_at = SIZE_MAX) : fails_at_(fails_at) {}

  Poll<Result<void>> poll_ready(Context& cx) { return poll_flush(cx); }
  Result<void> start_send(int item) {
    EXPECT_FALSE(held_) << "it was not ready";
    EXPECT_FALSE(is_closed);
    if (item < 0) return std::errc::invalid_argument;
    held_ = item;
    return {};
  }
  Poll<Result<void>> poll_flush(Context& cx) {
    if (!held_) return Poll<Result<void>>::ready(Result<void>());
    if (std::exchange(rests_, !rests_)) {
      cx.waker().wake_by_ref();
      return pending;
    }
    if (taken.size() == fails_at_) return Poll<Result<void>>::ready(std::errc::broken_pipe);
    taken.push_back(*std::exchange(held_, std::nullopt));
    return Poll<Result<void>>::ready(Result<void>());
  }
  Poll<Result<void>> poll_close(Context& cx) {
    Poll<Result<void>> flushed = poll_flush(cx);
    if (flushed.is_ready() && flushed.value()) is_closed = true;
    return flushed;
  }

  Numbers taken;
  bool is_closed = false;

 private:
  std::size_t fails_at_;
  std::optional<int> held_;
  bool rests_ = true;
};

static_assert(Sink<SlowSink, int>);
static_assert(!Sink<SlowSink, std::string>);
static_assert(!Sink<Numbers, int>);

TEST(Sink, SendPassesOnWhatFeedOnlyHandsIn) {
  SlowSink sink;
  block_on(stream::feed(sink, 1));
  EXPECT_EQ(sink.taken, Numbers{});
  block_on(stream::feed(sink, 2));
  EXPECT_EQ(sink.taken, Numbers{1}) << "there was no room for both";
  block_on(stream::flush(sink));
  EXPECT_EQ(sink.taken, (Numbers{1, 2}));
  block_on(stream::send(sink, 3));
  EXPECT_EQ(sink.taken, (Numbers{1, 2, 3}));
  block_on(stream::feed(sink, 4));
  block_on(stream::close(sink));
  EXPECT_EQ(sink.taken, (Numbers{1, 2, 3, 4}));
  EXPECT_TRUE(sink.is_closed);
}

TEST(Sink, ErrorsComeFromTheItemAndFromTheSink) {
  SlowSink sink(1);
  EXPECT_EQ(block_on(stream::send(sink, -1).result()).error(), std::errc::invalid_argument);
  block_on(stream::send(sink, 1));
  EXPECT_EQ(block_on(stream::send(sink, 2).result()).error(), std::errc::broken_pipe);
  EXPECT_THROW(block_on(stream::send(sink, 3)), std::system_error);
}

TEST(Sink, ADroppedSendIsWholeOrNotThere) {
  std::optional<SlowSink> sink;
  const auto report = drop_at_each_poll(
      [&] {
        sink.emplace();
        block_on(stream::feed(*sink, 1));
        return stream::send(*sink, 2);
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        block_on(stream::send(*sink, 3));
        EXPECT_EQ(sink->taken, k < 2 ? (Numbers{1, 3}) : (Numbers{1, 2, 3})) << k;
      });
  EXPECT_EQ(report.polls, 3U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(Sink, MovesItemsThatCannotBeCopied) {
  struct Pointers {
    Poll<Result<void>> poll_ready(Context&) { return Poll<Result<void>>::ready(Result<void>()); }
    Result<void> start_send(std::unique_ptr<int> item) {
      taken.push_back(std::move(item));
      return {};
    }
    Poll<Result<void>> poll_flush(Context& cx) { return poll_ready(cx); }
    Poll<Result<void>> poll_close(Context& cx) { return poll_ready(cx); }
    std::vector<std::unique_ptr<int>> taken;
  };
  Pointers sink;
  block_on(stream::send(sink, std::make_unique<int>(1)));
  std::vector<std::unique_ptr<int>> more;
  more.push_back(std::make_unique<int>(2));
  auto items = stream::iter(std::move(more));
  block_on(stream::send_all(sink, items));
  ASSERT_EQ(sink.taken.size(), 2U);
  EXPECT_EQ(*sink.taken[1], 2);
}

TEST(SendAll, FlushesAtTheEndAndLeavesBothAlone) {
  SlowSink sink;
  auto numbers = stream::iter(Numbers{1, 2, 3});
  block_on(stream::send_all(sink, numbers));
  EXPECT_EQ(sink.taken, (Numbers{1, 2, 3}));
  EXPECT_FALSE(sink.is_closed);
  auto more = stream::iter(Numbers{4});
  block_on(stream::send_all(sink, more));
  EXPECT_EQ(sink.taken, (Numbers{1, 2, 3, 4}));
}

TEST(SendAll, WhileTheStreamWaitsNothingWaitsInTheSink) {
  SlowSink sink;
  Feed<int> feed;
  auto numbers = feed.stream();
  auto sending = stream::send_all(sink, numbers);
  rouse::testing::CountingWaker waker;
  Context cx(waker.waker());
  feed.give(1);
  while (sink.taken.empty()) {
    const std::size_t wakes = waker.count();
    ASSERT_TRUE(sending.poll(cx).is_pending());
    ASSERT_TRUE(!sink.taken.empty() || waker.count() > wakes) << "somebody wakes it";
  }
  EXPECT_EQ(sink.taken, Numbers{1});
  feed.end();
  EXPECT_TRUE(sending.poll(cx).is_ready());
}

TEST(Forward, ClosesTheSinkAtTheEnd) {
  SlowSink sink;
  block_on(stream::forward(stream::iter(Numbers{1, 2}), sink));
  EXPECT_EQ(sink.taken, (Numbers{1, 2}));
  EXPECT_TRUE(sink.is_closed);
}

TEST(Forward, EndsWithTheFirstErrorOfTheStreamAndTheRestCanBeRead) {
  std::vector<Result<int>> items;
  items.emplace_back(1);
  items.emplace_back(std::make_error_code(std::errc::io_error));
  items.emplace_back(2);
  auto results = stream::iter(std::move(items));
  SlowSink sink;
  EXPECT_EQ(block_on(stream::forward(results, sink).result()).error(), std::errc::io_error);
  EXPECT_FALSE(sink.is_closed);
  block_on(stream::forward(results, sink));
  EXPECT_EQ(sink.taken, (Numbers{1, 2}));
  EXPECT_TRUE(sink.is_closed);
}

TEST(Forward, EndsWithTheFirstErrorOfTheSink) {
  SlowSink sink(1);
  EXPECT_EQ(block_on(stream::forward(stream::iter(Numbers{1, 2, 3}), sink).result()).error(),
            std::errc::broken_pipe);
  EXPECT_EQ(sink.taken, Numbers{1});
  SlowSink picky;
  EXPECT_EQ(block_on(stream::forward(stream::iter(Numbers{1, -1}), picky).result()).error(),
            std::errc::invalid_argument);
}

TEST(Forward, ThrowsWhatTheStreamThrowsAndCanGoOn) {
  Feed<int> feed;
  SlowSink sink;
  feed.give(1);
  feed.fail("fed");
  feed.give(2);
  feed.end();
  auto forwarding = stream::forward(feed.stream(), sink);
  rouse::testing::CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_THROW((void)forwarding.poll(cx), TestError);
  while (forwarding.poll(cx).is_pending()) continue;
  EXPECT_EQ(sink.taken, (Numbers{1, 2}));
}

TEST(Forward, OwnsWhatItIsGivenAndDropsTheStreamAtItsEnd) {
  Feed<int> feed;
  feed.end();
  auto forwarding = stream::forward(feed.stream(), SlowSink());
  EXPECT_FALSE(forwarding.borrows());
  EXPECT_EQ(feed.alive(), 1);
  block_on(forwarding);
  EXPECT_EQ(feed.alive(), 0);
}

TEST(Forward, DroppedAtEachPollItLosesAtMostTheItemItHad) {
  std::optional<SlowSink> sink;
  std::optional<decltype(stream::iter(Numbers()))> numbers;
  const auto report = drop_at_each_poll(
      [&] {
        sink.emplace();
        numbers.emplace(stream::iter(Numbers{1, 2, 3}));
        return stream::send_all(*sink, *numbers);
      },
      [](std::size_t) {},
      [&](std::size_t) {
        block_on(stream::send_all(*sink, *numbers));
        EXPECT_GE(sink->taken.size(), 2U);
        EXPECT_TRUE(std::ranges::is_sorted(sink->taken));
      });
  EXPECT_EQ(report.wakers_left, 0U);
  EXPECT_GT(report.polls, 3U);
}

}  // namespace
}  // namespace rouse::sink_test
