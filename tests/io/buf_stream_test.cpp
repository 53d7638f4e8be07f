// BufStream: both directions of a stream, buffered.
#include "rouse/io/buf_stream.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/io/split.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/seekable.hpp"

namespace rouse::buf_stream_test {
namespace {

using io::SeekFrom;
using rouse::test::SlowFile;
using rouse::testing::drop_at_each_poll;

static_assert(AsyncBufRead<io::BufStream<io::DuplexStream>>);
static_assert(AsyncWrite<io::BufStream<io::DuplexStream&>>);
static_assert(io::is_full_duplex<io::BufStream<io::DuplexStream>>);
static_assert(!io::is_full_duplex<io::BufStream<SlowFile>>);

TEST(BufStream, BuffersBothDirections) {
  auto [near, far] = io::duplex(64);
  io::BufStream stream(near);
  block_on(far.write_all("one\ntwo\n"));
  std::string line;
  EXPECT_EQ(block_on(stream.read_line(line)), 4U);
  EXPECT_EQ(line, "one\n");
  EXPECT_EQ(stream.read_buffer().size(), 4U);

  block_on(stream.write_all("a"));
  block_on(stream.write_all("b"));
  EXPECT_EQ(stream.write_buffer().size(), 2U);
  EXPECT_EQ(stream.read_buffer().size(), 4U) << "untouched";
  block_on(stream.flush());
  EXPECT_TRUE(stream.write_buffer().empty());
  std::string got(2, ' ');
  block_on(far.read_exact(got));
  EXPECT_EQ(got, "ab");
}

TEST(BufStream, GivesTheStreamBackAndShutsItDown) {
  auto [near, far] = io::duplex(64);
  io::BufStream stream(std::move(near), 16, 32);
  block_on(stream.write_all("bye"));
  block_on(stream.shutdown());
  EXPECT_EQ(block_on(far.read_to_string()), "bye");
  io::DuplexStream inner = std::move(stream).into_inner();
  block_on(far.write_all("x"));
  std::string got(1, ' ');
  block_on(inner.read_exact(got));
  EXPECT_EQ(got, "x");
}

Async<> answer(io::DuplexStream peer) {
  io::BufStream stream(std::move(peer));
  std::string line;
  while (co_await stream.read_line(line) != 0) {
    co_await stream.write_all("> " + line);
    co_await stream.flush();
    line.clear();
  }
  co_await stream.shutdown();
}

TEST(BufStream, CarriesADialogue) {
  Runtime runtime;
  auto [near, far] = io::duplex(8);
  auto answering = runtime.spawn(answer, std::move(far));
  io::BufStream stream(std::move(near));
  std::string all;
  for (int i = 0; i < 100; ++i) {
    const auto ask =
        [&]() -> Async<> {  // NOLINT(*-avoid-capturing-lambda-coroutines): awaited here
      co_await stream.write_all("a question\n");
      co_await stream.flush();
      co_await stream.read_line(all);
    };
    runtime.block_on(ask());
  }
  runtime.block_on(stream.shutdown());
  runtime.block_on(std::move(answering));
  EXPECT_EQ(all.size(), 1300U);
  EXPECT_TRUE(all.ends_with("> a question\n"));
}

TEST(BufStream, CanBeSplit) {
  auto [near, far] = io::duplex(64);
  auto [reader, writer] = io::split(io::BufStream(std::move(near)));
  block_on(writer.write_all("abc"));
  block_on(writer.shutdown());
  EXPECT_EQ(block_on(far.read_to_string()), "abc");
  block_on(far.shutdown());
  EXPECT_EQ(block_on(reader.read_to_string()), "");
}

TEST(BufStream, OverAFileSeeksBetweenReadingAndWriting) {
  io::BufStream file(SlowFile("0123456789"), 4);
  std::string text(2, ' ');
  block_on(file.read_exact(text));
  EXPECT_EQ(text, "01");
  EXPECT_EQ(block_on(io::seek(file, SeekFrom::current(0))), 2U);
  block_on(file.write_all("ab"));
  EXPECT_EQ(block_on(io::seek(file, SeekFrom::current(-1))), 3U);
  EXPECT_EQ(file.inner().text, "01ab456789");
  block_on(file.read_exact(text));
  EXPECT_EQ(text, "b4");
}

TEST(BufStream, ADroppedFlushOrReadLosesNothing) {
  std::optional<io::BufStream<SlowFile>> file;
  const auto report = drop_at_each_poll(
      [&] {
        file.emplace(SlowFile("abc"), 4, 4);
        block_on(file->write_all("xy"));
        return file->flush();
      },
      [](std::size_t) {},
      [&](std::size_t) {
        block_on(file->flush());
        EXPECT_EQ(file->inner().text, "xyc");
        EXPECT_EQ(block_on(file->read_to_string()), "c");
      });
  EXPECT_EQ(report.polls, 3U);
  EXPECT_EQ(report.wakers_left, 0U);
}

}  // namespace
}  // namespace rouse::buf_stream_test
