// read_u32, write_u32 and their family.
#include "rouse/io/numbers.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "rouse/exec/block_on.hpp"
#include "rouse/io/bytes_reader.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/support.hpp"

namespace rouse::numbers_test {
namespace {

using rouse::test::SlowReader;
using rouse::test::SlowWriter;
using rouse::testing::drop_at_each_poll;

std::string bytes_of(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes.push_back(static_cast<char>(value));
  return bytes;
}

/// That `bytes` is read as `number`, and `number` is written as `bytes`.
template <class Read, class Write, class T>
void expect_is(Read read, Write write, const std::string& bytes, T number) {
  SlowReader reader(bytes + "x");
  const auto got = block_on(read(reader));
  static_assert(std::is_same_v<decltype(got), const T>);
  EXPECT_EQ(got, number);
  EXPECT_EQ(reader.given(), bytes.size()) << "not a byte more";
  SlowWriter writer;
  block_on(write(writer, number));
  EXPECT_EQ(writer.taken, bytes);
}

TEST(Numbers, ThePlainNameIsBigEndian) {
  expect_is(io::read_u8, io::write_u8, bytes_of({0xfe}), std::uint8_t{0xfe});
  expect_is(io::read_i8, io::write_i8, bytes_of({0xfe}), std::int8_t{-2});
  expect_is(io::read_u16, io::write_u16, bytes_of({0xfe, 0xdc}), std::uint16_t{0xfedc});
  expect_is(io::read_i16, io::write_i16, bytes_of({0xff, 0xfe}), std::int16_t{-2});
  expect_is(io::read_u32, io::write_u32, bytes_of({0xfe, 0xdc, 0xba, 0x98}),
            std::uint32_t{0xfedc'ba98});
  expect_is(io::read_i32, io::write_i32, bytes_of({0x80, 0, 0, 1}), std::int32_t{-0x7fff'ffff});
  expect_is(io::read_u64, io::write_u64, bytes_of({0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10}),
            std::uint64_t{0xfedc'ba98'7654'3210});
  expect_is(io::read_i64, io::write_i64, bytes_of({0x80, 0, 0, 0, 0, 0, 0, 0}),
            std::numeric_limits<std::int64_t>::min());
  expect_is(io::read_f32, io::write_f32, bytes_of({0xc0, 0x20, 0, 0}), -2.5F);
  expect_is(io::read_f64, io::write_f64, bytes_of({0x3f, 0xe0, 0, 0, 0, 0, 0, 0}), 0.5);
}

TEST(Numbers, TheOtherNameIsLittleEndian) {
  expect_is(io::read_u16_le, io::write_u16_le, bytes_of({0xdc, 0xfe}), std::uint16_t{0xfedc});
  expect_is(io::read_i16_le, io::write_i16_le, bytes_of({0xfe, 0xff}), std::int16_t{-2});
  expect_is(io::read_u32_le, io::write_u32_le, bytes_of({0x98, 0xba, 0xdc, 0xfe}),
            std::uint32_t{0xfedc'ba98});
  expect_is(io::read_i32_le, io::write_i32_le, bytes_of({1, 0, 0, 0x80}),
            std::int32_t{-0x7fff'ffff});
  expect_is(io::read_u64_le, io::write_u64_le,
            bytes_of({0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe}),
            std::uint64_t{0xfedc'ba98'7654'3210});
  expect_is(io::read_i64_le, io::write_i64_le, bytes_of({0, 0, 0, 0, 0, 0, 0, 0x80}),
            std::numeric_limits<std::int64_t>::min());
  expect_is(io::read_f32_le, io::write_f32_le, bytes_of({0, 0, 0x20, 0xc0}), -2.5F);
  expect_is(io::read_f64_le, io::write_f64_le, bytes_of({0, 0, 0, 0, 0, 0, 0xe0, 0x3f}), 0.5);
}

TEST(Numbers, NoBitOfAFloatIsChanged) {
  const std::string quiet = bytes_of({0x7f, 0xc0, 0x12, 0x34});
  SlowReader reader(quiet);
  const float nan = block_on(io::read_f32(reader));
  EXPECT_TRUE(std::isnan(nan));
  SlowWriter writer;
  block_on(io::write_f32(writer, nan));
  EXPECT_EQ(writer.taken, quiet);
}

TEST(Numbers, EndOfFileIsAnErrorAlsoBeforeTheFirstByte) {
  for (const std::string bytes : {"", "a", "abc"}) {
    SlowReader reader(bytes);
    EXPECT_EQ(block_on(io::read_u32(reader).result()).error(), io::Error::unexpected_eof);
  }
  SlowReader reader("");
  EXPECT_EQ(block_on(io::read_u8(reader).result()).error(), io::Error::unexpected_eof);
  EXPECT_THROW(block_on(io::read_u8(reader)), std::system_error);
}

TEST(Numbers, PassErrorsOn) {
  const std::error_code reset = std::make_error_code(std::errc::connection_reset);
  SlowReader reader("a", reset);
  EXPECT_EQ(block_on(io::read_u16(reader).result()).error(), reset);
  SlowWriter full(3);
  EXPECT_EQ(block_on(io::write_u32(full, 1).result()).error(), io::Error::write_zero);
  SlowWriter broken(3, reset);
  EXPECT_EQ(block_on(io::write_u32(broken, 1).result()).error(), reset);
}

TEST(Numbers, DroppedMidwayTheyLeaveNothingBehind) {
  SlowReader reader("");
  const auto reads = drop_at_each_poll(
      [&] { return reader = SlowReader("abcd"), io::read_u32(reader); }, [](std::size_t) {},
      [&](std::size_t k) {
        EXPECT_EQ(reader.given(), k == 0 ? 0U : k - 1);
        const std::string left = std::string("abcd").substr(reader.given());
        EXPECT_EQ(block_on(reader.read_to_string()), left);
      });
  EXPECT_EQ(reads.polls, 5U);
  EXPECT_EQ(reads.wakers_left, 0U);
  SlowWriter writer;
  const auto writes = drop_at_each_poll(
      [&] { return writer = SlowWriter(), io::write_u16(writer, 0x6162); }, [](std::size_t) {},
      [&](std::size_t k) {
        EXPECT_EQ(writer.taken, std::string("ab").substr(0, k == 0 ? 0 : k - 1));
      });
  EXPECT_EQ(writes.polls, 3U);
  EXPECT_EQ(writes.wakers_left, 0U);
}

TEST(Numbers, OfOneByteADropLosesNothing) {
  SlowReader reader("");
  const auto reads = drop_at_each_poll(
      [&] { return reader = SlowReader("a"), io::read_u8(reader); }, [](std::size_t) {},
      [&](std::size_t k) { EXPECT_EQ(reader.given(), k == 2 ? 1U : 0U); });
  EXPECT_EQ(reads.polls, 2U);
}

}  // namespace
}  // namespace rouse::numbers_test
