// read_buf: what is there, appended to a container.
#include "rouse/io/read_buf.hpp"

#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/block_on.hpp"
#include "rouse/io/bytes_reader.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/support.hpp"

namespace rouse::read_buf_test {
namespace {

using rouse::test::SlowReader;
using rouse::testing::drop_at_each_poll;

TEST(ReadBuf, AppendsWhatIsThereAndGivesZeroAtTheEnd) {
  SlowReader reader("ab");
  std::string text = "> ";
  EXPECT_EQ(block_on(io::read_buf(reader, text)), 1U);
  EXPECT_EQ(text, "> a");
  EXPECT_EQ(block_on(io::read_buf(reader, text)), 1U);
  EXPECT_EQ(text, "> ab");
  EXPECT_EQ(block_on(io::read_buf(reader, text)), 0U);
  EXPECT_EQ(text, "> ab");
}

TEST(ReadBuf, ReadsIntoTheRoomThatWasReserved) {
  const std::string input(100'000, 'x');
  io::BytesReader reader(input);
  std::vector<std::byte> bytes;
  bytes.reserve(10'000);
  const std::byte* const memory = bytes.data();
  EXPECT_EQ(block_on(io::read_buf(reader, bytes)), 10'000U);
  EXPECT_EQ(bytes.data(), memory);
  while (block_on(io::read_buf(reader, bytes)) != 0) continue;
  EXPECT_EQ(test::text(bytes), input);
}

TEST(ReadBuf, GrowsWithWhatHasArrived) {
  SlowReader reader(std::string(5'000, 'x'));
  std::vector<std::byte> bytes;
  while (block_on(io::read_buf(reader, bytes)) != 0) EXPECT_LT(bytes.capacity(), 20'000U);
  EXPECT_EQ(bytes.size(), 5'000U);
}

TEST(ReadBuf, LeavesTheContainerAsItWasWhenItFails) {
  const std::error_code reset = std::make_error_code(std::errc::connection_reset);
  SlowReader reader("", reset);
  std::string text = "abc";
  EXPECT_EQ(block_on(io::read_buf(reader, text).result()).error(), reset);
  EXPECT_EQ(text, "abc");
}

TEST(ReadBuf, ADropLosesNothing) {
  SlowReader reader("");
  std::string text;
  const auto report = drop_at_each_poll(
      [&] { return reader = SlowReader("a"), text = "> ", io::read_buf(reader, text); },
      [](std::size_t) {},
      [&](std::size_t k) {
        EXPECT_EQ(text, k == 2 ? "> a" : "> ");
        EXPECT_EQ(reader.given(), k == 2 ? 1U : 0U);
      });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

}  // namespace
}  // namespace rouse::read_buf_test
