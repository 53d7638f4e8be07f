// BytesReader, empty, repeat, sink, take, chain.
#include "rouse/io/sources.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/exec/block_on.hpp"
#include "rouse/io/bytes_reader.hpp"
#include "rouse/io/copy.hpp"
#include "rouse/io/take.hpp"
#include "rouse/testing/counting_waker.hpp"

#include "io/support.hpp"

namespace {

using namespace rouse;
using rouse::test::SlowReader;

static_assert(AsyncBufRead<io::BytesReader> && AsyncWrite<io::Sink>);

TEST(BytesReader, ReadsWhatIsThere) {
  const std::string text = "one\ntwo\nthree";
  io::BytesReader reader(text);
  std::array<char, 2> buf{};
  EXPECT_EQ(block_on(reader.read(buf)), 2U);
  std::string line;
  EXPECT_EQ(block_on(reader.read_line(line)), 2U);
  EXPECT_EQ(line, "e\n");
  auto lines = reader.lines();
  EXPECT_EQ(block_on(lines.next()), "two");
  EXPECT_EQ(test::text(reader.rest()), "three");
  EXPECT_EQ(block_on(reader.read_to_string()), "three");
  EXPECT_EQ(block_on(reader.read(buf)), 0U);
  EXPECT_DEATH(reader.consume(1), "consume");
}

TEST(Take, GivesTheFirstBytesAndLeavesTheRest) {
  SlowReader reader("abcdef");
  auto some = io::take(reader, 4);
  EXPECT_EQ(block_on(some.read_to_string()), "abcd");
  EXPECT_EQ(some.left(), 0U);
  EXPECT_EQ(block_on(reader.read_to_string()), "ef");
  auto owning = io::take(SlowReader("ab"), UINT64_MAX);
  EXPECT_EQ(block_on(owning.read_to_string()), "ab");
  auto none = io::take(SlowReader("ab"), 0);
  EXPECT_EQ(block_on(none.read_to_string()), "");
  EXPECT_EQ(none.inner().given(), 0U);
}

TEST(Chain, ReadsOneAfterTheOther) {
  SlowReader first("abc");
  auto both = io::chain(first, SlowReader("def"));
  EXPECT_EQ(block_on(both.read(io::BufferMut())), 0U);
  EXPECT_EQ(block_on(both.read_to_string()), "abcdef");
  EXPECT_EQ(block_on(both.read_to_string()), "");
}

TEST(Sources, AreEmptyEndlessAndForgetful) {
  auto nothing = io::empty();
  EXPECT_EQ(block_on(nothing.read_to_string()), "");
  auto some = io::take(io::repeat(std::byte{'x'}), 3);
  EXPECT_EQ(block_on(some.read_to_string()), "xxx");
  auto many = io::take(io::repeat(std::byte{'x'}), 1'000'000);
  auto out = io::sink();
  EXPECT_EQ(block_on(io::copy(many, out)), 1'000'000U);
}

TEST(Sources, AnEndlessCopyLetsOtherTasksRun) {
  auto endless = io::repeat(std::byte{'x'});
  auto out = io::sink();
  auto copying = io::copy(endless, out);
  rouse::testing::CountingWaker waker;
  Context cx(waker.waker(), Context::task_budget);
  EXPECT_TRUE(copying.poll(cx).is_pending());
  EXPECT_GE(waker.count(), 1U);
}

}  // namespace
