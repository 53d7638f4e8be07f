// write_all, writev, write_all_vectored, flush, shutdown.
#include "rouse/io/write.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "rouse/exec/block_on.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/io/error.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/support.hpp"

namespace {

using namespace rouse;
using rouse::test::SlowWriter;
using rouse::testing::drop_at_each_poll;

static_assert(AsyncWrite<SlowWriter> && AsyncWrite<io::DuplexStream>);

TEST(WriteAll, WritesAllToAWriterThatTakesOneByteAtATime) {
  SlowWriter writer;
  block_on(io::write_all(writer, "hello"));
  EXPECT_EQ(writer.taken, "hello");
  EXPECT_EQ(writer.flushed, 0U);
  block_on(writer.flush());
  EXPECT_EQ(writer.flushed, 5U);
}

TEST(WriteAll, OfNothingDoesNotWriteAtAll) {
  SlowWriter writer(0, std::make_error_code(std::errc::io_error));
  block_on(writer.write_all(""));
}

TEST(WriteAll, FailsWhenTheWriterTakesNoMore) {
  SlowWriter writer(3);
  const Result<void> wrote = block_on(writer.write_all("hello").result());
  ASSERT_FALSE(wrote);
  EXPECT_EQ(wrote.error(), io::Error::write_zero);
  EXPECT_EQ(writer.taken, "hel");
}

TEST(WriteAll, PassesTheWritersErrorOn) {
  SlowWriter writer(1, std::make_error_code(std::errc::no_space_on_device));
  EXPECT_THROW(block_on(writer.write_all("hello")), std::system_error);
}

TEST(WriteAll, DroppedMidwayHasWrittenTheBeginning) {
  SlowWriter writer;
  const auto report = drop_at_each_poll(
      [&] {
        writer = SlowWriter();
        return writer.write_all("abc");
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        EXPECT_EQ(writer.taken, std::string("abc").substr(0, k == 0 ? 0 : k - 1));
        const std::string before = writer.taken;
        block_on(writer.write_all("de"));
        EXPECT_EQ(writer.taken, before + "de");
      });
  EXPECT_EQ(report.polls, 4U);
}

TEST(WriteAllVectored, WritesManyBuffersOfWhichSomeAreEmpty) {
  const std::array<std::string, 40> parts = [] {
    std::array<std::string, 40> made;
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = std::string(i % 4, char('a' + i % 26));
    return made;
  }();
  std::vector<io::Buffer> bufs;
  std::string all;
  for (const std::string& part : parts) {
    bufs.emplace_back(part);
    all += part;
  }
  SlowWriter slow;
  block_on(slow.write_all_vectored(bufs));
  EXPECT_EQ(slow.taken, all);
  block_on(slow.write_all_vectored(std::span(bufs).first(1)));  // nothing but an empty one
  EXPECT_EQ(slow.taken, all);
}

/// Takes at most `most` bytes of all buffers together.
struct Vectored : io::WriteMembers<Vectored> {
  explicit Vectored(std::size_t at_most) : most(at_most) {}
  static Poll<Result<std::size_t>> poll_write(Context&, std::span<const std::byte>) {
    return Poll<Result<std::size_t>>::ready(std::errc::not_supported);
  }
  Poll<Result<std::size_t>> poll_writev(Context&, std::span<const io::Buffer> bufs) {
    std::size_t left = most;
    for (const io::Buffer& buf : bufs) {
      const std::size_t n = std::min(left, buf.size());
      taken.append(reinterpret_cast<const char*>(buf.data()), n);
      left -= n;
    }
    return Poll<Result<std::size_t>>::ready(most - left);
  }
  static Poll<Result<void>> poll_flush(Context&) { return pending; }
  static Poll<Result<void>> poll_shutdown(Context&) { return pending; }

  std::size_t most;
  std::string taken;
};
static_assert(AsyncWriteVectored<Vectored>);

TEST(WriteAllVectored, GoesOnInTheMidstOfABuffer) {
  const std::array<io::Buffer, 4> bufs{"abc", "", "defg", "h"};
  for (std::size_t most = 1; most < 10; ++most) {
    Vectored writer(most);
    block_on(writer.write_all_vectored(bufs));
    EXPECT_EQ(writer.taken, "abcdefgh") << most;
  }
  Vectored writer(0);
  EXPECT_EQ(block_on(io::write_all_vectored(writer, bufs).result()).error(), io::Error::write_zero);
}

TEST(WriteAllVectored, DroppedMidwayHasWrittenTheBeginning) {
  const std::array<io::Buffer, 2> bufs{"ab", "cd"};
  SlowWriter writer;
  const auto report = drop_at_each_poll(
      [&] {
        writer = SlowWriter();
        return writer.write_all_vectored(bufs);
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        EXPECT_EQ(writer.taken, std::string("abcd").substr(0, k == 0 ? 0 : k - 1));
      });
  EXPECT_EQ(report.polls, 5U);
}

TEST(Writev, WritesOfOneOrOfAllBuffers) {
  const std::array<io::Buffer, 3> bufs{"", "abc", "de"};
  Vectored vectored(4);
  EXPECT_EQ(block_on(vectored.writev(bufs)), 4U);
  SlowWriter slow;
  EXPECT_EQ(block_on(io::writev(slow, bufs)), 1U);
  EXPECT_EQ(block_on(io::writev(slow, std::span(bufs).first(1))), 0U);
}

TEST(Shutdown, EndsTheStreamAndMayBeDroppedMidway) {
  SlowWriter writer;
  const auto report = drop_at_each_poll([&] { return writer = SlowWriter(), writer.shutdown(); },
                                        [](std::size_t) {},
                                        [&](std::size_t k) {
                                          EXPECT_EQ(writer.is_shut_down, k == 2);
                                          block_on(io::shutdown(writer));
                                          EXPECT_TRUE(writer.is_shut_down);
                                        });
  EXPECT_EQ(report.polls, 2U);
}

}  // namespace
