// simplex, duplex.
#include "rouse/io/duplex.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "io/support.hpp"

namespace {

using namespace rouse;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

TEST(Duplex, EachEndReadsWhatTheOtherWrites) {
  auto [left, right] = io::duplex(64);
  block_on(left.write_all("ping"));
  block_on(right.write_all("pong!"));
  std::array<char, 64> buf{};
  EXPECT_EQ(block_on(right.read(buf)), 4U);
  EXPECT_EQ(std::string(buf.data(), 4), "ping");
  EXPECT_EQ(block_on(left.read(buf)), 5U);
  EXPECT_EQ(std::string(buf.data(), 5), "pong!");
}

TEST(Duplex, AWriterWaitsUntilThereIsRoom) {
  auto [left, right] = io::duplex(4);
  PollHarness writing(left.write_all("abcdefg"));
  EXPECT_TRUE(writing.poll().is_pending());
  EXPECT_TRUE(writing.kept_waker());
  std::array<char, 8> buf{};
  EXPECT_EQ(block_on(right.read(buf)), 4U);
  EXPECT_TRUE(writing.is_woken());
  EXPECT_TRUE(writing.poll().is_ready());
  EXPECT_EQ(block_on(right.read(buf)), 3U);
  EXPECT_EQ(std::string(buf.data(), 3), "efg");
}

TEST(Duplex, AReaderIsWokenByAWriteAndKeepsTheWakerOfItsLastPoll) {
  auto [left, right] = io::duplex(4);
  std::array<char, 8> buf{};
  PollHarness reading(right.read(buf));
  EXPECT_TRUE(reading.poll().is_pending());
  reading.change_waker();
  EXPECT_TRUE(reading.poll().is_pending());
  EXPECT_TRUE(reading.kept_waker());
  block_on(left.write_all("a"));
  EXPECT_TRUE(reading.is_woken());
  EXPECT_EQ(reading.poll().value(), 1U);
  EXPECT_EQ(reading.waker().clones(), 0U);
}

TEST(Duplex, AfterTheOtherEndWasDroppedReadsTheRestThenTheEndAndCantWrite) {
  auto [left, right] = io::duplex(16);
  block_on(left.write_all("last words"));
  {
    const io::DuplexStream gone = std::move(left);
  }
  EXPECT_EQ(block_on(right.read_to_string()), "last words");
  EXPECT_EQ(block_on(right.read_to_string()), "");
  const Result<std::size_t> wrote = block_on(right.write("x").result());
  ASSERT_FALSE(wrote);
  EXPECT_EQ(wrote.error(), std::errc::broken_pipe);
}

TEST(Duplex, DroppingAnEndWakesTheReaderAndTheWriterOfTheOther) {
  auto [left, right] = io::duplex(1);
  std::optional<io::DuplexStream> end(std::move(right));
  std::array<char, 8> buf{};
  PollHarness reading(left.read(buf));
  PollHarness writing(left.write_all("abc"));
  EXPECT_TRUE(reading.poll().is_pending());
  EXPECT_TRUE(writing.poll().is_pending());
  end.reset();
  EXPECT_TRUE(reading.is_woken() && writing.is_woken());
  EXPECT_EQ(reading.poll().value(), 0U);
  EXPECT_THROW((void)writing.poll(), std::system_error);
}

TEST(Duplex, ShutdownEndsOneDirectionOnly) {
  auto [left, right] = io::duplex(16);
  block_on(left.write_all("abc"));
  block_on(left.shutdown());
  EXPECT_EQ(block_on(right.read_to_string()), "abc");
  block_on(right.write_all("still here"));
  std::array<char, 16> buf{};
  EXPECT_EQ(block_on(left.read(buf)), 10U);
  EXPECT_EQ(block_on(left.write("x").result()).error(), std::errc::broken_pipe);
}

TEST(Duplex, AssigningToAnEndDropsWhatItWas) {
  auto [left, right] = io::duplex(16);
  auto [other, peer] = io::duplex(16);
  left = std::move(other);
  EXPECT_EQ(block_on(right.read_to_string()), "");
  block_on(left.write_all("x"));
  std::array<char, 16> buf{};
  EXPECT_EQ(block_on(peer.read(buf)), 1U);
}

TEST(Duplex, EmptyBuffersAreReadyAtOnce) {
  auto [left, right] = io::duplex(1);
  EXPECT_EQ(block_on(left.read(io::BufferMut())), 0U);
  EXPECT_EQ(block_on(left.write("")), 0U);
  block_on(left.write_all("x"));
  EXPECT_EQ(block_on(left.write("")), 0U);
}

TEST(Duplex, DiesWithoutCapacity) { EXPECT_DEATH((void)io::duplex(0), "give it a capacity"); }

TEST(Duplex, ADroppedReadOrWriteLosesNothing) {
  auto [left_end, right_end] = io::duplex(4);
  auto& left = left_end;
  auto& right = right_end;
  std::array<char, 8> buf{};
  drop_at_each_poll([&] { return right.read(buf); },
                    [&](std::size_t k) {
                      if (k == 1) block_on(left.write_all("abc"));
                    },
                    [&](std::size_t k) {
                      if (k == 2) {
                        EXPECT_EQ(std::string(buf.data(), 3), "abc");
                      }
                    });
  drop_at_each_poll(
      [&] {
        block_on(left.write_all("1234"));
        return left.write("xy");
      },
      [&](std::size_t) { EXPECT_EQ(block_on(right.read(buf)), 4U); },
      [&](std::size_t k) {
        EXPECT_EQ(block_on(right.read(buf)), k == 2 ? 2U : 4U);
        EXPECT_EQ(buf[0], k == 2 ? 'x' : '1');
      });
}

Async<> pump(io::DuplexStream end, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string piece(i % 37 + 1, static_cast<char>('a' + i % 26));
    co_await end.write_all(piece);
  }
}

Async<std::size_t> check(io::DuplexStream end, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::string got(i % 37 + 1, ' ');
    co_await end.read_exact(got);
    if (got != std::string(got.size(), static_cast<char>('a' + i % 26))) co_return i;
  }
  std::string rest = co_await end.read_to_string();
  co_return count + rest.size();
}

TEST(Duplex, PassesBytesBetweenThreadsInOrder) {
  constexpr std::size_t count = 20'000;
  auto [left, right] = io::duplex(100);
  std::thread writer([end = std::move(left)]() mutable { block_on(pump(std::move(end), count)); });
  EXPECT_EQ(block_on(check(std::move(right), count)), count);
  writer.join();
}

TEST(Duplex, PassesBytesBetweenTasksOfARuntimeAndOfALocalExecutor) {
  constexpr std::size_t count = 5'000;
  {
    Runtime runtime;
    auto [left, right] = io::duplex(61);
    auto pumping = runtime.spawn(pump, std::move(left), count);
    EXPECT_EQ(runtime.block_on(check(std::move(right), count)), count);
    runtime.block_on(std::move(pumping));
  }
  LocalExecutor executor;
  auto [left, right] = io::duplex(61);
  executor.spawn(pump, std::move(left), count).detach();
  EXPECT_EQ(executor.run_until(check(std::move(right), count)), count);
}

TEST(Simplex, IsOneDirectionOfADuplex) {
  auto [reader, writer] = io::simplex(2);
  auto write = [](io::SimplexWriter to) -> Async<> { co_await to.write_all("one way"); };
  LocalExecutor executor;
  executor.spawn(write, std::move(writer)).detach();
  EXPECT_EQ(executor.run_until(reader.read_to_string()), "one way");
}

}  // namespace
