// read_exact, read_to_end, read_to_string, readv.
#include "rouse/io/read.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/io/error.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/support.hpp"

namespace {

using namespace rouse;
using rouse::test::SlowReader;
using rouse::testing::drop_at_each_poll;

static_assert(AsyncRead<SlowReader> && AsyncRead<io::DuplexStream>);

TEST(ReadExact, FillsTheBufferFromAReaderThatGivesOneByteAtATime) {
  SlowReader reader("hello, world");
  std::array<char, 5> buf{};
  block_on(io::read_exact(reader, buf));
  EXPECT_EQ(std::string(buf.data(), buf.size()), "hello");
  EXPECT_EQ(reader.given(), 5U);
}

TEST(ReadExact, OfAnEmptyBufferDoesNotReadAtAll) {
  SlowReader reader("", std::make_error_code(std::errc::io_error));
  block_on(reader.read_exact(io::BufferMut()));
}

TEST(ReadExact, FailsWhenTheStreamEndsBefore) {
  SlowReader reader("abc");
  std::array<char, 4> buf{};
  const Result<void> read = block_on(reader.read_exact(buf).result());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), io::Error::unexpected_eof);
}

TEST(ReadExact, PassesTheReadersErrorOn) {
  SlowReader reader("abc", std::make_error_code(std::errc::connection_reset));
  std::array<char, 4> buf{};
  EXPECT_THROW(block_on(reader.read_exact(buf)), std::system_error);
}

TEST(ReadExact, DroppedMidwayHasTakenWhatItSays) {
  std::array<char, 3> buf{};
  SlowReader reader("abc");
  const auto report = drop_at_each_poll(
      [&] {
        reader = SlowReader("abc");
        return reader.read_exact(buf);
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        EXPECT_EQ(reader.given(), k == 0 ? 0 : k - 1) << k;
        const std::string left = std::string("abc").substr(reader.given());
        EXPECT_EQ(block_on(reader.read_to_string()), left) << k;
      });
  EXPECT_EQ(report.polls, 4U);
  EXPECT_FALSE(report.threw);
}

TEST(ReadExact, DiesWhenAReaderClaimsMoreThanItCanHaveRead) {
  struct Liar {
    static Poll<Result<std::size_t>> poll_read(Context&, std::span<std::byte> buf) {
      return Poll<Result<std::size_t>>::ready(buf.size() + 1);
    }
  };
  Liar liar;
  std::array<char, 3> buf{};
  EXPECT_DEATH(block_on(io::read_exact(liar, buf)), "more than the buffer holds");
}

TEST(ReadToEnd, AppendsToAVectorOrAString) {
  SlowReader reader("world");
  std::string out = "hello ";
  EXPECT_EQ(block_on(reader.read_to_end(out)), 5U);
  EXPECT_EQ(out, "hello world");
  SlowReader other("xyz");
  std::vector<std::byte> into;
  EXPECT_EQ(block_on(io::read_to_end(other, into)), 3U);
  EXPECT_EQ(into, test::bytes("xyz"));
}

TEST(ReadToEnd, KeepsWhatItReadWhenThereIsMoreThanAllowed) {
  SlowReader reader("abcdef");
  std::string out;
  const Result<std::size_t> read = block_on(reader.read_to_end(out, 4).result());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), io::Error::too_long);
  EXPECT_EQ(out, "abcd");
}

TEST(ReadToEnd, AllowsExactlyTheLimitAndEveryHugeOne) {
  for (const std::size_t limit : {std::size_t{4}, std::size_t{5}, static_cast<std::size_t>(-1)}) {
    SlowReader reader("abcd");
    EXPECT_EQ(block_on(reader.read_to_string(limit)), "abcd");
  }
  SlowReader empty("");
  EXPECT_EQ(block_on(empty.read_to_string(0)), "");
}

TEST(ReadToEnd, KeepsWhatItReadBeforeAnError) {
  SlowReader reader("abc", std::make_error_code(std::errc::io_error));
  std::string out;
  const Result<std::size_t> read = block_on(reader.read_to_end(out).result());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), std::errc::io_error);
  EXPECT_EQ(out, "abc");
}

TEST(ReadToEnd, DroppedMidwayLeavesWhatItReadInTheVector) {
  std::string out;
  SlowReader reader("abc");
  const auto report = drop_at_each_poll(
      [&] {
        out.clear();
        reader = SlowReader("abc");
        return reader.read_to_end(out);
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        EXPECT_EQ(out, std::string("abc").substr(0, reader.given())) << k;
        block_on(reader.read_to_end(out));
        EXPECT_EQ(out, "abc") << k;
      });
  EXPECT_EQ(report.polls, 5U);
}

TEST(ReadToEnd, ReadsAMegabyteThatComesInPiecesOfAllSizes) {
  auto [reader, writer] = io::simplex(1000);
  std::string sent;
  for (int i = 0; sent.size() < 1'000'000; ++i) sent += std::to_string(i);
  std::string got;
  auto reading = reader.read_to_end(got);
  const Waker& waker = Waker::noop();
  Context cx(waker);
  for (std::size_t at = 0; at < sent.size();) {
    const std::size_t piece = std::min(at % 997 + 1, sent.size() - at);
    block_on(writer.write_all({sent.data() + at, piece}));
    at += piece;
    EXPECT_TRUE(reading.poll(cx).is_pending());
  }
  block_on(writer.shutdown());
  EXPECT_TRUE(reading.poll(cx).is_ready());
  EXPECT_EQ(got, sent);
}

TEST(Readv, OfAReaderWithoutPollReadvUsesTheFirstBufferThatIsNotEmpty) {
  auto [reader, writer] = io::simplex(16);
  block_on(writer.write_all("abcdef"));
  std::array<char, 2> first{};
  std::array<char, 8> second{};
  const std::array<io::BufferMut, 3> bufs{io::BufferMut(), io::BufferMut(first),
                                          io::BufferMut(second)};
  EXPECT_EQ(block_on(reader.readv(bufs)), 2U);
  EXPECT_EQ(std::string(first.data(), 2), "ab");
  EXPECT_EQ(block_on(io::readv(reader, std::span(bufs).first(1))), 0U);
}

TEST(Readv, OfAReaderThatHasPollReadvFillsAllBuffers) {
  struct Vectored : io::ReadMembers<Vectored> {
    static Poll<Result<std::size_t>> poll_read(Context&, std::span<std::byte>) { return pending; }
    static Poll<Result<std::size_t>> poll_readv(Context&, std::span<const io::BufferMut> bufs) {
      std::size_t n = 0;
      for (const io::BufferMut& buf : bufs) {
        std::memset(buf.data(), 'x', buf.size());
        n += buf.size();
      }
      return Poll<Result<std::size_t>>::ready(n);
    }
  };
  static_assert(AsyncReadVectored<Vectored>);
  Vectored reader;
  std::string a(2, ' ');
  std::string b(3, ' ');
  const std::array<io::BufferMut, 2> bufs{io::BufferMut(a), io::BufferMut(b)};
  EXPECT_EQ(block_on(reader.readv(bufs)), 5U);
  EXPECT_EQ(a + b, "xxxxx");
}

}  // namespace
