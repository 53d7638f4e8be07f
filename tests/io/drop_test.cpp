// The futures of io that the tests of their own files do not drop after each of their polls.
#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "rouse/exec/block_on.hpp"
#include "rouse/io/buf_reader.hpp"
#include "rouse/io/framed.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/support.hpp"

namespace {

using namespace rouse;
using rouse::test::SlowReader;
using rouse::test::SlowWriter;
using rouse::testing::drop_at_each_poll;
using rouse::testing::DropReport;

void nothing(std::size_t) {}

void expect_clean(const DropReport& report, std::size_t polls) {
  EXPECT_EQ(report.polls, polls);
  EXPECT_EQ(report.wakers_left, 0U);
  EXPECT_FALSE(report.threw);
}

TEST(DropAtEachPoll, ReadvAndWritevHaveDoneNothingUntilTheyAreReady) {
  SlowReader reader("");
  std::array<char, 4> buf{};
  const std::array<io::BufferMut, 1> into{io::BufferMut(buf)};
  expect_clean(
      drop_at_each_poll([&] { return reader = SlowReader("ab"), reader.readv(into); }, nothing,
                        [&](std::size_t k) { EXPECT_EQ(reader.given(), k == 2 ? 1 : 0); }),
      2);
  SlowWriter writer;
  const std::array<io::Buffer, 2> from{"a", "b"};
  expect_clean(
      drop_at_each_poll([&] { return writer = SlowWriter(), writer.writev(from); }, nothing,
                        [&](std::size_t k) { EXPECT_EQ(writer.taken, k == 2 ? "a" : ""); }),
      2);
}

TEST(DropAtEachPoll, ReadToStringLosesWhatItReadAndTheReaderGoesOn) {
  SlowReader reader("");
  expect_clean(drop_at_each_poll(
                   [&] { return reader = SlowReader("abc"), reader.read_to_string(); }, nothing,
                   [&](std::size_t) {
                     const std::string left = std::string("abc").substr(reader.given());
                     EXPECT_EQ(block_on(reader.read_to_string()), left);
                   }),
               5);
}

TEST(DropAtEachPoll, NextOfLinesLosesNothing) {
  std::optional<io::Lines<io::BufReader<SlowReader>>> lines;
  expect_clean(
      drop_at_each_poll(
          [&] {
            lines.emplace(io::BufReader(SlowReader("ab\ncd\n")).lines());
            return lines->next();
          },
          nothing,
          [&](std::size_t k) { EXPECT_EQ(block_on(lines->next()), k == 4 ? "cd" : "ab") << k; }),
      4);
}

TEST(DropAtEachPoll, FeedFlushAndShutdownOfFramesTearNone) {
  std::optional<io::FramedWrite<SlowWriter, io::LengthDelimitedCodec>> frames;
  const auto make = [&] {
    frames.emplace(SlowWriter(), io::LengthDelimitedCodec().length_field_length(2));
    block_on(frames->feed("ab"));
  };
  const auto is_whole = [&](std::size_t) {
    block_on(frames->send("!"));
    EXPECT_EQ(frames->inner().taken, std::string("\0\2ab\0\1!", 7));
  };
  expect_clean(drop_at_each_poll([&] { return make(), frames->flush(); }, nothing, is_whole), 6);
  expect_clean(drop_at_each_poll([&] { return make(), frames->shutdown(); }, nothing, is_whole), 6);
  expect_clean(drop_at_each_poll([&] { return make(), frames->feed("cd"); }, nothing,
                                 [&](std::size_t k) {
                                   block_on(frames->flush());
                                   EXPECT_EQ(frames->inner().taken.size(), k == 0 ? 4U : 8U);
                                 }),
               1);
}

}  // namespace
