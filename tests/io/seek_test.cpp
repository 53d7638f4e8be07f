// seek, stream_position, rewind; also through buffers.
#include "rouse/io/seek.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/exec/block_on.hpp"
#include "rouse/io/buf_reader.hpp"
#include "rouse/io/buf_writer.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/seekable.hpp"

namespace rouse::seek_test {
namespace {

using io::SeekFrom;
using rouse::test::SlowFile;
using rouse::testing::drop_at_each_poll;

template <class R>
std::string read(R& reader, std::size_t n) {
  std::string text(n, ' ');
  block_on(reader.read_exact(text));
  return text;
}

TEST(Seek, MovesFromTheStartFromHereAndFromTheEnd) {
  SlowFile file("0123456789");
  EXPECT_EQ(block_on(io::seek(file, SeekFrom::start(4))), 4U);
  EXPECT_EQ(read(file, 2), "45");
  EXPECT_EQ(block_on(io::seek(file, SeekFrom::current(-1))), 5U);
  EXPECT_EQ(block_on(io::seek(file, SeekFrom::end(-3))), 7U);
  EXPECT_EQ(block_on(io::stream_position(file)), 7U);
  EXPECT_EQ(read(file, 3), "789");
  EXPECT_EQ(block_on(io::rewind(file)), 0U);
  EXPECT_EQ(read(file, 1), "0");
}

TEST(Seek, ToWhereNothingCanBeIsAnErrorAndMovesNothing) {
  SlowFile file("0123456789");
  block_on(io::seek(file, SeekFrom::start(4)));
  EXPECT_EQ(block_on(io::seek(file, SeekFrom::current(-5)).result()).error(),
            std::errc::invalid_argument);
  EXPECT_EQ(block_on(io::seek(file, SeekFrom::start(UINT64_MAX)).result()).error(),
            std::errc::invalid_argument);
  EXPECT_EQ(read(file, 1), "4");
}

TEST(Seek, ADroppedOneIsOverBeforeTheNext) {
  std::optional<SlowFile> file;
  const auto report = drop_at_each_poll(
      [&] {
        file.emplace("0123456789");
        return io::seek(*file, SeekFrom::start(3));
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        EXPECT_EQ(block_on(io::seek(*file, SeekFrom::current(1))), k == 0 ? 1U : 4U) << k;
      });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(Seek, OfABufReaderCountsFromWhatWasGiven) {
  io::BufReader reader(SlowFile("0123456789"), 4);
  EXPECT_EQ(read(reader, 1), "0");
  EXPECT_EQ(reader.buffer().size(), 3U);
  EXPECT_EQ(block_on(io::stream_position(reader)), 1U);
  EXPECT_EQ(reader.buffer().size(), 3U) << "asked only";
  EXPECT_EQ(block_on(io::seek(reader, SeekFrom::current(1))), 2U);
  EXPECT_EQ(read(reader, 1), "2");
  EXPECT_EQ(block_on(io::seek(reader, SeekFrom::end(-1))), 9U);
  EXPECT_EQ(read(reader, 1), "9");
  EXPECT_EQ(block_on(io::rewind(reader)), 0U);
  EXPECT_EQ(read(reader, 5), "01234");
}

TEST(Seek, OfABufReaderThatFailsLosesNothingThatWasReadAhead) {
  io::BufReader reader(SlowFile("0123456789"), 4);
  EXPECT_EQ(read(reader, 1), "0");
  EXPECT_EQ(block_on(io::seek(reader, SeekFrom::current(-2)).result()).error(),
            std::errc::invalid_argument);
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(block_on(io::seek(reader, SeekFrom::current(lowest)).result()).error(),
            std::errc::invalid_argument);
  EXPECT_EQ(read(reader, 9), "123456789");
}

TEST(Seek, OfABufReaderDroppedMidwayReadsOnFromOneOfTheTwoPlaces) {
  std::optional<io::BufReader<SlowFile>> reader;
  const auto report = drop_at_each_poll(
      [&] {
        reader.emplace(SlowFile("0123456789"), 4);
        EXPECT_EQ(read(*reader, 1), "0");
        return io::seek(*reader, SeekFrom::start(8));
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        const std::uint64_t here = block_on(io::stream_position(*reader));
        EXPECT_EQ(here, k == 0 ? 1U : 8U);
        EXPECT_EQ(read(*reader, 2), k == 0 ? "12" : "89");
      });
  EXPECT_EQ(report.polls, 2U);
}

TEST(Seek, OfABufWriterFlushesFirst) {
  io::BufWriter writer(SlowFile("0123456789"));
  block_on(writer.write_all("ab"));
  EXPECT_EQ(writer.inner().text, "0123456789");
  EXPECT_EQ(block_on(io::stream_position(writer)), 2U);
  EXPECT_EQ(writer.inner().text, "ab23456789");
  block_on(writer.write_all("c"));
  EXPECT_EQ(block_on(io::seek(writer, SeekFrom::end(-1))), 9U);
  block_on(writer.write_all("z"));
  block_on(writer.flush());
  EXPECT_EQ(writer.inner().text, "abc345678z");
}

TEST(Seek, OfABufWriterThatCannotFlushFailsAndKeepsWhatItHas) {
  io::BufWriter writer(SlowFile("0123456789"));
  block_on(writer.write_all("ab"));
  writer.inner().write_error = std::make_error_code(std::errc::no_space_on_device);
  EXPECT_EQ(block_on(io::rewind(writer).result()).error(), std::errc::no_space_on_device);
  EXPECT_EQ(writer.buffer().size(), 2U);
}

TEST(Seek, ReachesThroughABufferOverAReference) {
  SlowFile file("0123456789");
  io::BufReader reader(file, 4);
  EXPECT_EQ(read(reader, 1), "0");
  EXPECT_EQ(block_on(io::seek(reader, SeekFrom::current(4))), 5U);
  EXPECT_EQ(file.position, 5U);
}

}  // namespace
}  // namespace rouse::seek_test
