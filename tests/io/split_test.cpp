// split, unsplit: of streams that may be read and written at the same time, and of others.
#include "rouse/io/split.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/support.hpp"

namespace {

using namespace rouse;
using rouse::testing::CountingWaker;
using rouse::testing::drop_at_each_poll;

/// A stream that one thread at a time may touch: it counts without a lock, for a sanitizer to see.
class Touchy : public io::ReadMembers<Touchy>, public io::WriteMembers<Touchy> {
 public:
  explicit Touchy(io::DuplexStream inner) : inner_(std::move(inner)) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    ++polls;
    if (during_read) during_read();
    return inner_.poll_read(cx, buf);
  }
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    ++polls;
    return inner_.poll_write(cx, data);
  }
  Poll<Result<void>> poll_flush(Context& cx) {
    ++polls;
    return inner_.poll_flush(cx);
  }
  Poll<Result<void>> poll_shutdown(Context& cx) {
    ++polls;
    return inner_.poll_shutdown(cx);
  }

  std::size_t polls = 0;
  std::function<void()> during_read;

 private:
  io::DuplexStream inner_;
};

static_assert(io::is_full_duplex<io::DuplexStream> && !io::is_full_duplex<Touchy>);

template <class S>
Async<> send(io::WriteHalf<S> writer, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string piece(i % 7 + 1, static_cast<char>('a' + i % 26));
    co_await writer.write_all(piece);
  }
  co_await writer.shutdown();
}

template <class S>
Async<std::size_t> receive(io::ReadHalf<S> reader, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::string got(i % 7 + 1, ' ');
    co_await reader.read_exact(got);
    if (got != std::string(got.size(), static_cast<char>('a' + i % 26))) co_return i;
  }
  co_return count;
}

Async<> echo(io::DuplexStream peer) {
  std::array<char, 64> buf;
  for (;;) {
    const std::size_t n = co_await peer.read(buf);
    if (n == 0) co_return;
    co_await peer.write_all(io::Buffer(buf.data(), n));
  }
}

template <class S>
void send_and_receive_at_the_same_time(S stream, io::DuplexStream peer) {
  constexpr std::size_t count = 5000;
  Runtime runtime;
  auto [reader, writer] = io::split(std::move(stream));
  auto echoing = runtime.spawn(echo, std::move(peer));
  auto sending = runtime.spawn(send<S>, std::move(writer), count);
  EXPECT_EQ(runtime.block_on(receive<S>(std::move(reader), count)), count);
  runtime.block_on(std::move(sending));
  runtime.block_on(std::move(echoing));
}

TEST(Split, HalvesWorkInDifferentTasksWithoutALock) {
  auto [near, far] = io::duplex(32);
  send_and_receive_at_the_same_time(std::move(near), std::move(far));
}

TEST(Split, HalvesOfAStreamForOneThreadTakeTurns) {
  auto [near, far] = io::duplex(32);
  send_and_receive_at_the_same_time(Touchy(std::move(near)), std::move(far));
}

TEST(Split, HalvesOfAStreamForOneThreadTakeTurnsOnTwoThreads) {
  auto [near, far_end] = io::duplex(32);
  auto& far = far_end;
  auto [reader, writer] = io::split(Touchy(std::move(near)));
  std::thread sender(
      [half = std::move(writer)]() mutable { block_on(send(std::move(half), 3000)); });
  std::thread echoing([&] { block_on(echo(std::move(far))); });
  EXPECT_EQ(block_on(receive(std::move(reader), 3000)), 3000U);
  sender.join();
  echoing.join();
}

TEST(Split, AHalfThatFindsTheOtherPollingIsWokenWhenThatIsDone) {
  auto [near, far] = io::duplex(8);
  Touchy stream(std::move(near));
  std::optional<io::WriteHalf<Touchy>> writer;
  CountingWaker writer_waker;
  bool was_pending = false;
  std::size_t woken_meanwhile = 0;
  stream.during_read = [&] {
    Context cx(writer_waker.waker());
    was_pending = writer->write("x").poll(cx).is_pending();
    woken_meanwhile = writer_waker.count();
  };
  auto [reader, writing] = io::split(std::move(stream));
  writer.emplace(std::move(writing));
  std::array<char, 4> buf{};
  Context cx(Waker::noop());
  EXPECT_TRUE(reader.read(buf).poll(cx).is_pending());
  EXPECT_TRUE(was_pending);
  EXPECT_EQ(woken_meanwhile, 0U);
  EXPECT_EQ(writer_waker.count(), 1U);
  EXPECT_EQ(block_on(writer->write("x")), 1U);
  EXPECT_EQ(block_on(far.read(buf)), 1U);
}

TEST(Split, TheStreamLivesAsLongAsOneHalf) {
  auto [near, far] = io::duplex(8);
  auto [reading, writing] = io::split(std::move(near));
  std::optional<io::ReadHalf<io::DuplexStream>> reader(std::move(reading));
  block_on(writing.write_all("abc"));
  reader.reset();
  block_on(writing.write_all("def"));
  {
    const io::WriteHalf<io::DuplexStream> gone = std::move(writing);
  }
  EXPECT_EQ(block_on(far.read_to_string()), "abcdef");
}

TEST(Unsplit, GivesTheStreamBack) {
  auto [near, far] = io::duplex(8);
  auto [reader, writer] = io::split(std::move(near));
  io::DuplexStream whole = io::unsplit(std::move(reader), std::move(writer));
  block_on(whole.write_all("abc"));
  std::array<char, 4> buf{};
  EXPECT_EQ(block_on(far.read(buf)), 3U);
}

TEST(Unsplit, DiesWithHalvesOfDifferentStreams) {
  auto [a, b] = io::duplex(8);
  auto [a_reader, a_writer] = io::split(std::move(a));
  auto [b_reader, b_writer] = io::split(std::move(b));
  EXPECT_DEATH((void)io::unsplit(std::move(a_reader), std::move(b_writer)), "the two of one");
}

TEST(Split, DiesWhenAHalfThatWasMovedFromIsUsed) {
  auto [near, far] = io::duplex(8);
  auto [reader, writer] = io::split(std::move(near));
  const io::ReadHalf<io::DuplexStream> taken = std::move(reader);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
  EXPECT_DEATH((void)block_on(reader.read_to_string()), "moved from");
  EXPECT_DEATH((void)block_on(near.write("x")), "moved from");
}

TEST(Split, ADroppedReadLosesNothing) {
  auto [near, far_end] = io::duplex(8);
  auto& far = far_end;
  auto [reading, writer] = io::split(Touchy(std::move(near)));
  auto& reader = reading;
  std::array<char, 4> buf{};
  const auto report = drop_at_each_poll([&] { return reader.read(buf); },
                                        [&](std::size_t) { block_on(far.write_all("ab")); });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(std::string(buf.data(), 2), "ab");
}

}  // namespace
