// ReaderStream and StreamReader: readers as streams of chunks, and back.
#include "rouse/io/reader_stream.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/async_stream.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/io/bytes_reader.hpp"
#include "rouse/io/sources.hpp"
#include "rouse/io/stream_reader.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/try_collect.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/support.hpp"
#include "stream/support.hpp"

namespace rouse::reader_stream_test {
namespace {

using rouse::test::SlowReader;
using rouse::testing::drop_at_each_poll;
using Texts = std::vector<std::string>;
using Chunk = std::vector<std::byte>;

static_assert(Stream<io::ReaderStream<SlowReader>>);
static_assert(AsyncBufRead<io::StreamReader<io::ReaderStream<SlowReader>>>);

template <class S>
Async<Texts> all_chunks(S& chunks) {
  Texts all;
  while (const auto chunk = co_await chunks.next()) {
    all.push_back(*chunk ? test::text(**chunk) : "[" + chunk->error().message() + "]");
  }
  co_return all;
}

TEST(ReaderStream, GivesWhatEachReadGives) {
  io::ReaderStream slow(SlowReader("abc"));
  EXPECT_EQ(block_on(all_chunks(slow)), (Texts{"a", "b", "c"}));
  io::ReaderStream pieces(io::BytesReader("abcdefg"), 3);
  EXPECT_EQ(block_on(all_chunks(pieces)), (Texts{"abc", "def", "g"}));
  io::ReaderStream none(io::empty());
  EXPECT_EQ(block_on(all_chunks(none)), Texts{});
}

TEST(ReaderStream, EndsAfterAnError) {
  const std::error_code reset = std::make_error_code(std::errc::connection_reset);
  SlowReader reader("a", reset);
  io::ReaderStream chunks(reader);
  EXPECT_EQ(block_on(all_chunks(chunks)), (Texts{"a", "[" + reset.message() + "]"}));
  EXPECT_FALSE(block_on(chunks.next()));
}

TEST(ReaderStream, ADroppedNextLosesNothing) {
  std::optional<io::ReaderStream<SlowReader>> chunks;
  const auto report = drop_at_each_poll(
      [&] {
        chunks.emplace(SlowReader("ab"));
        return chunks->next();
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        EXPECT_EQ(block_on(all_chunks(*chunks)), k == 2 ? Texts{"b"} : (Texts{"a", "b"}));
      });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(ReaderStream, LetsOtherTasksRunAndDoesNotEndByItself) {
  io::ReaderStream chunks(io::repeat(std::byte{'x'}));
  rouse::testing::CountingWaker waker;
  Context cx(waker.waker(), Context::task_budget);
  int given = 0;
  while (chunks.poll_next(cx).is_ready()) ++given;
  EXPECT_GT(given, 10);
  EXPECT_EQ(waker.count(), 1U);
}

TEST(ReaderStream, ChunksAreAsLargeAsWhatIsInThem) {
  io::ReaderStream chunks(SlowReader("a"), 100'000);
  const auto chunk = block_on(chunks.next());
  ASSERT_TRUE(chunk && *chunk);
  EXPECT_LT((*chunk)->capacity(), 100U);
}

TEST(StreamReader, ReadsAcrossChunksAndSkipsEmptyOnes) {
  io::StreamReader reader(stream::iter(Texts{"", "on", "e\ntw", "", "o\nthree", ""}));
  std::string line;
  EXPECT_EQ(block_on(reader.read_line(line)), 4U);
  EXPECT_EQ(line, "one\n");
  std::string some(2, ' ');
  block_on(reader.read_exact(some));
  EXPECT_EQ(some, "tw");
  EXPECT_EQ(block_on(reader.read_to_string()), "o\nthree");
  EXPECT_EQ(block_on(reader.read(some)), 0U) << "and stays at the end";
}

TEST(StreamReader, AReadOfNothingTakesNoChunk) {
  io::StreamReader reader(stream::iter(Texts{"abc"}));
  EXPECT_EQ(block_on(reader.read(io::BufferMut())), 0U);
  EXPECT_EQ(block_on(reader.read_to_string()), "abc");
}

TEST(StreamReader, GivesAnErrorOnceAndGoesOn) {
  std::vector<Result<std::string>> items;
  items.emplace_back("ab");
  items.emplace_back(std::make_error_code(std::errc::io_error));
  items.emplace_back("cd");
  io::StreamReader reader(stream::iter(std::move(items)));
  std::string text;
  EXPECT_EQ(block_on(reader.read_to_end(text).result()).error(), std::errc::io_error);
  EXPECT_EQ(text, "ab");
  EXPECT_EQ(block_on(reader.read_to_string()), "cd");
}

TEST(StreamReader, TakesChunksOfAnyKindOfBytes) {
  const std::array<std::string_view, 2> views{"ab", "cd"};
  io::StreamReader of_views(stream::iter(views));
  EXPECT_EQ(block_on(of_views.read_to_string()), "abcd");
  std::vector<Chunk> chunks{test::bytes("ab"), test::bytes("cd")};
  io::StreamReader of_bytes(stream::iter(std::move(chunks)));
  EXPECT_EQ(block_on(of_bytes.read_to_string()), "abcd");
}

TEST(StreamReader, UndoesAReaderStream) {
  io::ReaderStream chunks(SlowReader("one\ntwo\n"), 3);
  io::StreamReader reader(chunks);
  EXPECT_EQ(block_on(reader.read_to_string()), "one\ntwo\n");
}

TEST(StreamReader, ADroppedReadLosesNothing) {
  using Reader = io::StreamReader<io::ReaderStream<SlowReader>>;
  std::optional<Reader> reader;
  std::string line;
  const auto report = drop_at_each_poll(
      [&] {
        reader.emplace(io::ReaderStream(SlowReader("ab\ncd")));
        line.clear();
        return reader->read_line(line);
      },
      [](std::size_t) {},
      [&](std::size_t) {
        line += block_on(reader->read_to_string());
        EXPECT_EQ(line, "ab\ncd");
      });
  EXPECT_EQ(report.polls, 4U);
  EXPECT_EQ(report.wakers_left, 0U);
}

AsyncStream<std::string> breaks() {
  co_yield "ab";
  throw std::system_error(std::make_error_code(std::errc::io_error));
}

TEST(StreamReader, ThrowsWhatTheStreamThrows) {
  io::StreamReader reader(breaks());
  std::string text(2, ' ');
  block_on(reader.read_exact(text));
  EXPECT_EQ(text, "ab");
  EXPECT_THROW((void)block_on(reader.read(text)), std::system_error);
}

}  // namespace
}  // namespace rouse::reader_stream_test
