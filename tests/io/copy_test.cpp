// copy, copy_buf, copy_bidirectional.
#include "rouse/io/copy.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/io/buf_reader.hpp"
#include "rouse/io/buf_writer.hpp"
#include "rouse/io/copy_bidirectional.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "io/support.hpp"

namespace {

using namespace rouse;
using rouse::test::SlowReader;
using rouse::test::SlowWriter;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

TEST(Copy, CopiesAllAndFlushesAtTheEnd) {
  SlowReader reader("hello");
  io::BufWriter writer{SlowWriter()};
  EXPECT_EQ(block_on(io::copy(reader, writer)), 5U);
  EXPECT_EQ(writer.inner().taken, "hello");
  EXPECT_EQ(writer.inner().flushed, 5U);
  EXPECT_FALSE(writer.inner().is_shut_down);
}

TEST(Copy, PassesErrorsOfBothSidesOn) {
  SlowReader broken("abc", std::make_error_code(std::errc::io_error));
  SlowWriter writer;
  EXPECT_EQ(block_on(io::copy(broken, writer).result()).error(), std::errc::io_error);
  EXPECT_EQ(writer.taken, "abc");
  SlowReader reader("abc");
  SlowWriter full(1);
  EXPECT_EQ(block_on(io::copy(reader, full).result()).error(), io::Error::write_zero);
  io::BufReader buffered(SlowReader("abc"));
  SlowWriter failing(1, std::make_error_code(std::errc::io_error));
  EXPECT_EQ(block_on(io::copy_buf(buffered, failing).result()).error(), std::errc::io_error);
}

TEST(Copy, FlushesWhenThereIsNothingToReadForNow) {
  auto [near, far] = io::duplex(64);
  auto [reader, out] = io::simplex(64);
  io::BufWriter writer(std::move(out));
  PollHarness copying(io::copy(near, writer));
  EXPECT_TRUE(copying.poll().is_pending());
  block_on(far.write_all("question?"));
  EXPECT_TRUE(copying.is_woken());
  EXPECT_TRUE(copying.poll().is_pending());
  std::array<char, 16> buf{};
  EXPECT_EQ(block_on(reader.read(buf)), 9U) << "who waits for it could never answer";
}

/// Each time: a peer that asks twice waits for both answers.
template <class Reader, class Copying>
void expect_that_each_pause_flushes(io::DuplexStream& far, Reader& reader, Copying& copying) {
  for (const char* question : {"first?", "second?"}) {
    EXPECT_TRUE(copying.poll().is_pending());
    block_on(far.write_all(question));
    EXPECT_TRUE(copying.poll().is_pending());
    std::array<char, 16> buf{};
    PollHarness reading(reader.read(buf));
    auto polled = reading.poll();
    ASSERT_TRUE(polled.is_ready()) << question << " was written, but not flushed";
    EXPECT_EQ(std::string(buf.data(), polled.value()), question);
  }
}

TEST(Copy, FlushesWheneverThereIsNothingToReadForNow) {
  auto [near, far] = io::duplex(64);
  auto [reader, out] = io::simplex(64);
  io::BufWriter writer(std::move(out));
  PollHarness copying(io::copy(near, writer));
  expect_that_each_pause_flushes(far, reader, copying);
}

TEST(CopyBuf, FlushesWheneverThereIsNothingToReadForNow) {
  auto [near, far] = io::duplex(64);
  auto [reader, out] = io::simplex(64);
  io::BufReader buffered(std::move(near));
  io::BufWriter writer(std::move(out));
  PollHarness copying(io::copy_buf(buffered, writer));
  expect_that_each_pause_flushes(far, reader, copying);
}

TEST(Copy, DroppedAtEachPollTheReaderAndWriterGoOn) {
  SlowReader reader("");
  SlowWriter writer;
  const auto report = drop_at_each_poll(
      [&] {
        reader = SlowReader("abc");
        writer = SlowWriter();
        return io::copy(reader, writer);
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        block_on(io::copy(reader, writer));
        EXPECT_GE(writer.taken.size(), 2U) << k;  // a byte that was read may be lost
        EXPECT_TRUE(writer.taken.ends_with("c") || writer.taken == "ab") << k;
      });
  EXPECT_EQ(report.polls, 6U);
}

TEST(CopyBuf, DroppedAtEachPollLosesNothing) {
  std::optional<io::BufReader<SlowReader>> reader;
  SlowWriter writer;
  const auto report = drop_at_each_poll(
      [&] {
        reader.emplace(SlowReader("abc"));
        writer = SlowWriter();
        return io::copy_buf(*reader, writer);
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        block_on(io::copy_buf(*reader, writer));
        EXPECT_EQ(writer.taken, "abc") << k;
        EXPECT_EQ(writer.flushed, 3U) << k;
      });
  EXPECT_EQ(report.polls, 6U);
}

Async<std::string> ask(io::DuplexStream server, std::string question) {
  co_await server.write_all(question);
  co_await server.shutdown();
  std::string answer = co_await server.read_to_string();
  co_return answer;
}

Async<> answer_twice(io::DuplexStream client) {
  const std::string question = co_await client.read_to_string();
  co_await client.write_all(question);
  co_await client.write_all(question);
}

Async<io::CopiedBothWays> proxy(io::DuplexStream a, io::DuplexStream b) {
  io::CopiedBothWays copied = co_await io::copy_bidirectional(a, b);
  co_return copied;
}

TEST(CopyBidirectional, PassesBothDirectionsAndTheirEndsOn) {
  Runtime runtime;
  auto [client, left] = io::duplex(16);
  auto [right, server] = io::duplex(7);
  const std::string question(10'000, '?');
  auto joined = runtime.spawn(proxy, std::move(left), std::move(right));
  auto answering = runtime.spawn(answer_twice, std::move(server));
  EXPECT_EQ(runtime.block_on(ask(std::move(client), question)), question + question);
  runtime.block_on(std::move(answering));
  const io::CopiedBothWays copied = runtime.block_on(std::move(joined));
  EXPECT_EQ(copied.a_to_b, 10'000U);
  EXPECT_EQ(copied.b_to_a, 20'000U);
}

TEST(CopyBidirectional, EndsOnlyWhenBothDirectionsHaveEnded) {
  auto [client, left] = io::duplex(16);
  auto [right, server] = io::duplex(16);
  PollHarness joined(io::copy_bidirectional(left, right));
  block_on(client.write_all("abc"));
  block_on(client.shutdown());
  EXPECT_TRUE(joined.poll().is_pending());
  EXPECT_EQ(block_on(server.read_to_string()), "abc");
  EXPECT_TRUE(joined.poll().is_pending());
  block_on(server.write_all("later"));
  block_on(server.shutdown());
  const auto polled = joined.poll();
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value().b_to_a, 5U);
}

TEST(CopyBidirectional, EndsWithTheFirstError) {
  auto [client, left] = io::duplex(16);
  auto [right, server] = io::duplex(16);
  PollHarness joined(io::copy_bidirectional(left, right).result());
  EXPECT_TRUE(joined.poll().is_pending());
  block_on(client.write_all("abc"));
  {
    const io::DuplexStream gone = std::move(server);
  }
  const auto polled = joined.poll();
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value().error(), std::errc::broken_pipe);
}

TEST(CopyBidirectional, DroppedAtEachPollTheStreamsGoOn) {
  std::optional<std::pair<io::DuplexStream, io::DuplexStream>> near;
  std::optional<std::pair<io::DuplexStream, io::DuplexStream>> far;
  const auto report = drop_at_each_poll(
      [&] {
        near.emplace(io::duplex(16));
        far.emplace(io::duplex(16));
        return io::copy_bidirectional(near->second, far->first);
      },
      [&](std::size_t k) {
        if (k == 1) block_on(near->first.write_all("abc"));
        if (k == 2) block_on(near->first.shutdown());
        if (k == 3) block_on(far->second.shutdown());
      },
      [&](std::size_t k) {
        if (k < 3) block_on(near->first.shutdown());
        if (k < 4) block_on(far->second.shutdown());
        block_on(io::copy_bidirectional(near->second, far->first));
        EXPECT_EQ(block_on(far->second.read_to_string()), k < 2 ? "" : "abc") << k;
        EXPECT_EQ(block_on(near->first.read_to_string()), "") << k;
      });
  EXPECT_EQ(report.polls, 4U);
}

/// Gives and takes as much as one likes, while there is budget.
class Endless {
 public:
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    if (!cx.take_budget()) return pending;
    return Poll<Result<std::size_t>>::ready(buf.size());
  }
  Poll<Result<std::size_t>> poll_write(Context&, std::span<const std::byte> data) {
    taken += data.size();
    return Poll<Result<std::size_t>>::ready(data.size());
  }
  Poll<Result<void>> poll_flush(Context&) { return Poll<Result<void>>::ready(Result<void>()); }
  Poll<Result<void>> poll_shutdown(Context&) { return Poll<Result<void>>::ready(Result<void>()); }
  std::size_t taken = 0;
};

TEST(CopyBidirectional, ADirectionThatUsesTheBudgetUpLeavesTheOtherItsTurn) {
  Endless a;
  Endless b;
  auto copy = io::copy_bidirectional(a, b);
  for (int i = 0; i < 2; ++i) {
    Context cx(Waker::noop(), Context::task_budget);
    EXPECT_TRUE(copy.poll_result(cx).is_pending());
  }
  EXPECT_GT(a.taken, 0U);
  EXPECT_GT(b.taken, 0U);
}

}  // namespace
