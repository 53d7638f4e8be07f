// What heads LengthDelimitedCodec understands; LinesCodec and AnyDelimiterCodec, which go on after
// a frame that is too long; BytesCodec; codecs that recover.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/io/any_delimiter_codec.hpp"
#include "rouse/io/bytes_codec.hpp"
#include "rouse/io/bytes_reader.hpp"
#include "rouse/io/framed.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/support.hpp"

namespace rouse::codecs_test {
namespace {

using rouse::test::SlowReader;
using rouse::test::SlowWriter;
using Texts = std::vector<std::string>;
using Length = io::LengthDelimitedCodec;

static_assert(io::Decoder<io::BytesCodec> && io::Encoder<io::BytesCodec>);
static_assert(io::Decoder<io::AnyDelimiterCodec> && io::Encoder<io::AnyDelimiterCodec>);

const std::string too_long = "[too_long]";
const std::string invalid = "[invalid_data]";
const std::string cut_off = "[unexpected_eof]";

std::string to_text(const std::vector<std::byte>& frame) { return test::text(frame); }
std::string to_text(const std::string& frame) { return frame; }
std::string to_text(std::error_code error) {
  if (error == io::Error::too_long) return too_long;
  if (error == io::Error::invalid_data) return invalid;
  if (error == io::Error::unexpected_eof) return cut_off;
  return error.message();
}

template <class F>
Async<Texts> read_all(F& frames) {
  Texts all;
  while (const auto frame = co_await frames.next()) {
    all.push_back(*frame ? to_text(**frame) : to_text(frame->error()));
    if (all.size() > 100) break;
  }
  co_return all;
}

/// The frames of `input`, which are the same whether it arrives byte by byte or all at once.
template <class Codec>
Texts frames_of(const std::string& input, Codec codec) {
  io::FramedRead slow(SlowReader(input), codec);
  io::FramedRead fast(io::BytesReader(input), codec);
  const Texts frames = block_on(read_all(slow));
  EXPECT_EQ(block_on(read_all(fast)), frames);
  return frames;
}

template <class Codec>
std::string sent(Codec codec, io::Buffer frame) {
  std::vector<std::byte> output = test::bytes("before");
  const Result<void> done = codec.encode(frame, output);
  const std::string text = test::text(output).substr(6);
  if (done) return text;
  EXPECT_EQ(text, "") << "nothing is added with an error";
  return to_text(done.error());
}

std::string operator""_s(const char* text, std::size_t size) { return {text, size}; }

TEST(LengthDelimitedCodec, TheLengthMayComeAfterOtherBytes) {
  const Length codec = Length().length_field_offset(2).length_field_length(1);
  EXPECT_EQ(frames_of("kk\3abckk\0kk\1x"_s, codec), (Texts{"abc", "", "x"}));
  EXPECT_EQ(frames_of("kk\3abckk"_s, codec), (Texts{"abc", cut_off}));
}

TEST(LengthDelimitedCodec, TheHeadMayStayInTheFrame) {
  const Length codec =
      Length().length_field_offset(1).length_field_length(2).length_adjustment(3).num_skip(0);
  EXPECT_EQ(frames_of("k\0\2abk\0\0"_s, codec), (Texts{"k\0\2ab"_s, "k\0\0"_s}));
}

TEST(LengthDelimitedCodec, TheLengthMayCountTheHead) {
  const Length codec = Length().length_field_length(2).length_adjustment(-2);
  EXPECT_EQ(frames_of("\0\5abc\0\2"_s, codec), (Texts{"abc", ""}));
  EXPECT_EQ(sent(codec, "abc"), "\0\5abc"_s);
  EXPECT_EQ(frames_of("\0\1abc"_s, codec), (Texts{invalid})) << "less than its own head";
}

TEST(LengthDelimitedCodec, APartOfTheHeadMayBeDropped) {
  const Length codec =
      Length().length_field_offset(1).length_field_length(1).length_adjustment(1).num_skip(2);
  EXPECT_EQ(frames_of("k\2fabk\0f"_s, codec), (Texts{"fab", "f"}));
  const Length beyond = Length().length_field_length(1).num_skip(3);
  EXPECT_EQ(frames_of("\2xxab\0xx"_s, beyond), (Texts{"ab", ""}));
  EXPECT_EQ(frames_of("\2xxab\0x"_s, beyond), (Texts{"ab", cut_off}));
}

TEST(LengthDelimitedCodec, AFrameOfNoBytesAtAllIsInvalidAndNotEndless) {
  const Length codec = Length().length_field_length(1).num_skip(0);
  EXPECT_EQ(frames_of("\2a\0"_s, codec), (Texts{"\2a", invalid}));
}

TEST(LengthDelimitedCodec, ALengthThatOverflowsWithItsAdjustmentIsInvalid) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::string all_ones(8, '\xff');
  const Length up = Length().length_field_length(8).max_frame_length(SIZE_MAX);
  EXPECT_EQ(frames_of(all_ones + "abc", Length(up).length_adjustment(1)), (Texts{invalid}));
  EXPECT_EQ(frames_of(all_ones + "abc", Length(up).length_adjustment(most)), (Texts{invalid}));
  EXPECT_EQ(frames_of(all_ones + "abc", Length(up).length_adjustment(-1)), (Texts{cut_off}))
      << "nothing is allocated for it";
  EXPECT_EQ(frames_of("\1abc", Length().length_field_length(1).length_adjustment(-most - 1)),
            (Texts{invalid}));
  EXPECT_EQ(sent(Length().length_adjustment(4), "abc"), invalid);
  EXPECT_EQ(sent(Length().length_adjustment(-most - 1), "abc"), too_long);
}

TEST(LengthDelimitedCodec, TheLimitIsThatOfTheLengthAsItIsSent) {
  const Length codec = Length().length_field_length(1).length_adjustment(-1).max_frame_length(3);
  EXPECT_EQ(frames_of("\3ab\4abc"_s, codec), (Texts{"ab", too_long}));
}

TEST(LengthDelimitedCodec, AFrameMustFitIntoItsLengthAfterTheAdjustment) {
  const std::string large(255, 'x');
  const Length codec = Length().length_field_length(1);
  EXPECT_EQ(sent(codec, large), "\xff" + large);
  EXPECT_EQ(sent(Length(codec).length_adjustment(-1), large), too_long);
  EXPECT_EQ(sent(Length(codec).length_adjustment(1), large + "x"), "\xff" + large + "x");
}

TEST(LengthDelimitedCodec, OfAllWidthsAndBothOrders) {
  for (std::size_t width = 1; width <= 8; ++width) {
    const Length big = Length().length_field_length(width);
    const Length little = Length().length_field_length(width).little_endian();
    EXPECT_EQ(sent(big, "ab"), std::string(width - 1, '\0') + "\2ab");
    EXPECT_EQ(sent(little, "ab"), "\2" + std::string(width - 1, '\0') + "ab");
    EXPECT_EQ(sent(Length(little).big_endian(), "ab"), sent(big, "ab"));
    EXPECT_EQ(frames_of(sent(big, "ab"), big), (Texts{"ab"}));
    EXPECT_EQ(frames_of(sent(little, "ab"), little), (Texts{"ab"}));
  }
}

TEST(LinesCodec, AfterALineThatIsTooLongComesTheNext) {
  EXPECT_EQ(frames_of("abc\nabcd\nab\n", io::LinesCodec(3)), (Texts{"abc", too_long, "ab"}));
  EXPECT_EQ(frames_of("a very long line\n\nab", io::LinesCodec(3)), (Texts{too_long, "", "ab"}));
  EXPECT_EQ(frames_of("long\nlong\nlong\n", io::LinesCodec(3)),
            (Texts{too_long, too_long, too_long}));
}

TEST(LinesCodec, ALongLineAtTheEndIsOneErrorAndThenTheEnd) {
  EXPECT_EQ(frames_of("ab\nabcdefgh", io::LinesCodec(3)), (Texts{"ab", too_long}));
  EXPECT_EQ(frames_of("abcd", io::LinesCodec(3)), (Texts{too_long}));
  EXPECT_EQ(frames_of("abcd\n", io::LinesCodec(3)), (Texts{too_long}));
  EXPECT_EQ(frames_of("\nx\n", io::LinesCodec(0)), (Texts{"", too_long}));
}

TEST(LinesCodec, AnEndlessLineUsesNoMemory) {
  io::LinesCodec codec(10);
  io::FrameBuffer buffer;
  const auto feed = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      buffer.room()[0] = std::byte{'x'};
      buffer.add(1);
    }
  };
  feed(11);
  EXPECT_EQ(codec.decode(buffer).error(), io::Error::too_long);
  for (int i = 0; i < 100; ++i) {
    feed(1000);
    EXPECT_EQ(codec.decode(buffer).value(), std::nullopt) << "and no second error";
    EXPECT_TRUE(buffer.empty());
  }
}

TEST(AnyDelimiterCodec, EndsAFrameAtAnyOfItsDelimiters) {
  EXPECT_EQ(frames_of("a,b;c\nd\re", io::AnyDelimiterCodec()), (Texts{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(frames_of(",;ab,", io::AnyDelimiterCodec()), (Texts{"", "", "ab"}));
  EXPECT_EQ(frames_of("", io::AnyDelimiterCodec()), Texts{});
  EXPECT_EQ(frames_of("a\0b,"_s, io::AnyDelimiterCodec("\0"_s)), (Texts{"a", "b,"}));
  EXPECT_EQ(frames_of("a,b", io::AnyDelimiterCodec("")), (Texts{"a,b"}));
}

TEST(AnyDelimiterCodec, AfterAFrameThatIsTooLongComesTheNext) {
  const io::AnyDelimiterCodec codec(",;", ",", 3);
  EXPECT_EQ(frames_of("abc,abcd;ab,", codec), (Texts{"abc", too_long, "ab"}));
  EXPECT_EQ(frames_of("ab,abcdefgh", codec), (Texts{"ab", too_long}));
}

TEST(AnyDelimiterCodec, SendsItsSequenceAndNoDelimiterInAFrame) {
  const io::AnyDelimiterCodec codec(";\n", ";\n", 3);
  EXPECT_EQ(sent(codec, "abc"), "abc;\n");
  EXPECT_EQ(sent(codec, ""), ";\n");
  EXPECT_EQ(sent(codec, "a;b"), invalid);
  EXPECT_EQ(sent(codec, "abcd"), too_long);
  EXPECT_EQ(sent(io::AnyDelimiterCodec(), "abc"), "abc,");
}

TEST(BytesCodec, GivesWhatHasArrived) {
  io::FramedRead slow(SlowReader("abc"), io::BytesCodec());
  EXPECT_EQ(block_on(read_all(slow)), (Texts{"a", "b", "c"}));
  io::FramedRead fast(io::BytesReader("abc"), io::BytesCodec());
  EXPECT_EQ(block_on(read_all(fast)), (Texts{"abc"}));
  EXPECT_EQ(sent(io::BytesCodec(), "abc"), "abc");
  EXPECT_EQ(sent(io::BytesCodec(), ""), "");
}

TEST(FramedRead, OfACodecThatRecoversEndsWithTheReadersErrorOnly) {
  const std::error_code reset = std::make_error_code(std::errc::connection_reset);
  io::FramedRead lines(SlowReader("abcd\nab\n", reset), io::LinesCodec(3));
  EXPECT_EQ(block_on(read_all(lines)), (Texts{too_long, "ab", reset.message()}));
}

TEST(FramedRead, ANextDroppedWhileItDiscardsLosesNothing) {
  std::optional<io::FramedRead<SlowReader, io::LinesCodec>> lines;
  const auto report = rouse::testing::drop_at_each_poll(
      [&] {
        lines.emplace(SlowReader("abcd\nab\n"), io::LinesCodec(3));
        EXPECT_EQ(block_on(lines->next())->error(), io::Error::too_long);
        return lines->next();
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        EXPECT_EQ(block_on(read_all(*lines)), k == 5 ? Texts{} : Texts{"ab"}) << k;
      });
  EXPECT_EQ(report.polls, 5U);
  EXPECT_EQ(report.wakers_left, 0U);
}

}  // namespace
}  // namespace rouse::codecs_test
