// BufReader, read_line, read_until, lines.
#include "rouse/io/buf_reader.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/stream/collect.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/support.hpp"

namespace {

using namespace rouse;
using rouse::test::SlowReader;
using rouse::testing::drop_at_each_poll;
using Texts = std::vector<std::string>;

static_assert(AsyncBufRead<io::BufReader<SlowReader>> && AsyncBufRead<io::BufReader<SlowReader&>>);
static_assert(Stream<io::Lines<io::BufReader<SlowReader>>>);

/// Counts the reads, and gives as much as fits.
struct CountingReader : io::ReadMembers<CountingReader> {
  Poll<Result<std::size_t>> poll_read(Context&, std::span<std::byte> buf) {
    ++reads;
    const std::size_t n = std::min(buf.size(), left);
    std::memset(buf.data(), 'x', n);
    left -= n;
    return Poll<Result<std::size_t>>::ready(n);
  }
  std::size_t left = 1000;
  int reads = 0;
};

TEST(BufReader, BorrowsAnLvalueAndOwnsAnRvalue) {
  SlowReader reader("ab");
  io::BufReader borrowing(reader);
  static_assert(std::is_same_v<decltype(borrowing), io::BufReader<SlowReader&>>);
  EXPECT_EQ(&borrowing.inner(), &reader);
  io::BufReader owning(SlowReader("cd"), 16);
  static_assert(std::is_same_v<decltype(owning), io::BufReader<SlowReader>>);
  EXPECT_EQ(block_on(borrowing.read_to_string()) + block_on(owning.read_to_string()), "abcd");
  SlowReader back = std::move(owning).into_inner();
  EXPECT_EQ(back.given(), 2U);
}

TEST(BufReader, ReadsManySmallPiecesWithOneRead) {
  CountingReader reader;
  io::BufReader buffered(reader, 100);
  std::array<char, 10> buf{};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(block_on(buffered.read(buf)), 10U);
  EXPECT_EQ(reader.reads, 1);
  EXPECT_TRUE(buffered.buffer().empty());
  std::array<char, 100> large{};
  EXPECT_EQ(block_on(buffered.read(large)), 100U);
  EXPECT_TRUE(buffered.buffer().empty()) << "a large read goes past the buffer";
}

TEST(BufReader, GivesWhatIsInTheBufferBeforeItReadsMore) {
  CountingReader reader;
  io::BufReader buffered(reader, 100);
  std::array<char, 200> buf{};
  EXPECT_EQ(block_on(buffered.read(io::BufferMut(buf.data(), 1))), 1U);
  EXPECT_EQ(block_on(buffered.read(buf)), 99U);
  EXPECT_EQ(reader.reads, 1);
}

TEST(BufReader, DiesWhenMoreIsConsumedThanThereIs) {
  io::BufReader reader(SlowReader("ab"));
  EXPECT_DEATH(reader.consume(1), "consume");
  EXPECT_DEATH((void)io::BufReader(SlowReader(""), 0), "at least one byte");
}

TEST(ReadLine, AppendsLinesWithTheirEndsAndSaysZeroAtTheEnd) {
  io::BufReader reader(SlowReader("one\ntwo\r\n\nlast"));
  std::string all;
  std::vector<std::size_t> counts;
  for (std::size_t n = 1; n != 0; counts.push_back(n)) n = block_on(reader.read_line(all));
  EXPECT_EQ(all, "one\ntwo\r\n\nlast");
  EXPECT_EQ(counts, (std::vector<std::size_t>{4, 5, 1, 4, 0}));
}

TEST(ReadUntil, FindsItsDelimiterAcrossSmallBuffers) {
  io::BufReader reader(SlowReader(std::string("abc\0def", 7)), 2);
  std::vector<std::byte> out;
  EXPECT_EQ(block_on(reader.read_until(std::byte{0}, out)), 4U);
  EXPECT_EQ(out, test::bytes(std::string_view("abc\0", 4)));
  EXPECT_EQ(block_on(io::read_until(reader, std::byte{0}, out)), 3U);
}

TEST(ReadUntil, TakesACharacterAsItsDelimiter) {
  io::BufReader reader(SlowReader("a;b\xff;c"));
  std::string out;
  EXPECT_EQ(block_on(reader.read_until(';', out)), 2U);
  EXPECT_EQ(block_on(io::read_until(reader, '\xff', out)), 2U);
  EXPECT_EQ(out, "a;b\xff");
}

TEST(ReadUntil, RefusesMoreThanTheLimitBeforeTheDelimiter) {
  io::BufReader exact(SlowReader("abc\n"));
  std::string line;
  EXPECT_EQ(block_on(exact.read_line(line, 3)), 4U);
  io::BufReader reader(SlowReader("abcd\n"));
  line.clear();
  const Result<std::size_t> read = block_on(io::read_line(reader, line, 3).result());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), io::Error::too_long);
  EXPECT_EQ(line, "abc");
  EXPECT_EQ(block_on(reader.read_line(line, static_cast<std::size_t>(-1))), 2U);
  EXPECT_EQ(line, "abcd\n") << "what was too long is still in the reader";
}

TEST(ReadUntil, DroppedMidwayGoesOnWithTheSameString) {
  std::optional<io::BufReader<SlowReader>> reader;
  std::string line;
  const auto report = drop_at_each_poll(
      [&] {
        reader.emplace(SlowReader("abc\nd"));
        line.clear();
        return reader->read_line(line);
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        if (!line.ends_with('\n')) block_on(reader->read_line(line));
        EXPECT_EQ(line, "abc\n") << k;
      });
  EXPECT_EQ(report.polls, 5U);
}

template <class L>
Async<Texts> all_lines(L& lines) {
  Texts all;
  for (;;) {
    std::optional<std::string> line = co_await lines.next_line();
    if (!line) co_return all;
    all.push_back(*std::move(line));
  }
}

TEST(Lines, AreWithoutTheirEnds) {
  auto lines = io::BufReader(SlowReader("one\ntwo\r\n\n\r\nthr\ree\nlast\r")).lines();
  EXPECT_EQ(block_on(all_lines(lines)), (Texts{"one", "two", "", "", "thr\ree", "last\r"}));
  EXPECT_EQ(block_on(lines.next_line()), std::nullopt);
  EXPECT_FALSE(lines.borrows());
}

TEST(Lines, BorrowTheReaderWhichThenStandsBehindThem) {
  io::BufReader reader(SlowReader("one\ntwo\nrest"));
  auto lines = reader.lines();
  EXPECT_TRUE(lines.borrows());
  EXPECT_EQ(block_on(lines.next()), "one");
  EXPECT_EQ(block_on(lines.next()), "two");
  EXPECT_EQ(block_on(reader.read_to_string()), "rest");
}

TEST(Lines, AreAStream) {
  EXPECT_EQ(block_on(stream::collect(io::BufReader(SlowReader("a\nb\n")).lines())),
            (Texts{"a", "b"}));
}

TEST(Lines, EndAfterOneThatIsTooLong) {
  auto lines = io::BufReader(SlowReader("abc\nabcd\nefg\n")).lines(3);
  EXPECT_EQ(block_on(lines.next_line()), "abc");
  const auto line = block_on(lines.next_line().result());
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error(), io::Error::too_long);
  EXPECT_EQ(block_on(lines.next_line()), std::nullopt);
}

TEST(Lines, OfAReaderThatFailsThrow) {
  auto lines = io::BufReader(SlowReader("a\nb", std::make_error_code(std::errc::io_error))).lines();
  EXPECT_EQ(block_on(lines.next()), "a");
  EXPECT_THROW(block_on(lines.next()), std::system_error);
  EXPECT_EQ(block_on(lines.next()), std::nullopt);
}

TEST(Lines, ADroppedNextLineLosesNothing) {
  std::optional<io::Lines<io::BufReader<SlowReader>>> lines;
  const auto report = drop_at_each_poll(
      [&] {
        lines.emplace(io::BufReader(SlowReader("abc\nde")).lines());
        return lines->next_line();
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        EXPECT_EQ(block_on(all_lines(*lines)), k == 5 ? Texts{"de"} : (Texts{"abc", "de"})) << k;
      });
  EXPECT_EQ(report.polls, 5U);
}

TEST(Lines, LetOtherTasksRun) {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "\n";
  auto [reader, writer] = io::simplex(many.size());
  block_on(writer.write_all(many));
  block_on(writer.shutdown());
  LocalExecutor executor;
  auto lines = io::BufReader(std::move(reader), many.size()).lines();
  Async<Texts> reading = all_lines(lines);
  rouse::testing::CountingWaker waker;
  Context cx(waker.waker(), Context::task_budget);
  EXPECT_TRUE(reading.poll(cx).is_pending());
  EXPECT_EQ(waker.count(), 1U);
  EXPECT_EQ(executor.run_until(std::move(reading)).size(), 5000U);
}

}  // namespace
