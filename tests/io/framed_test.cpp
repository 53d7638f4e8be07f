// FramedRead, FramedWrite, LengthDelimitedCodec, LinesCodec: frames over streams.
#include "rouse/io/framed.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/io/bytes_reader.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/io/split.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/support.hpp"

namespace {

using namespace rouse;
using rouse::test::SlowReader;
using rouse::test::SlowWriter;
using rouse::testing::drop_at_each_poll;
using Texts = std::vector<std::string>;

static_assert(Stream<io::FramedRead<SlowReader, io::LengthDelimitedCodec>>);
static_assert(io::Decoder<io::LinesCodec> && io::Encoder<io::LinesCodec>);

std::string as_text(const std::vector<std::byte>& frame) { return test::text(frame); }
std::string as_text(const std::string& frame) { return frame; }

/// All frames, and the error at the end, if there is one, in brackets.
template <class F>
Async<Texts> all_frames(F& frames) {
  Texts all;
  for (;;) {
    auto frame = co_await frames.next();
    if (!frame) co_return all;
    all.push_back(*frame ? as_text(**frame) : "[" + frame->error().message() + "]");
  }
}

std::string name(io::Error error) { return "[" + make_error_code(error).message() + "]"; }

Texts frames_of(std::string input, io::LengthDelimitedCodec codec) {
  io::FramedRead frames(SlowReader(std::move(input)), codec);
  return block_on(all_frames(frames));
}
Texts frames_of(const char* input, std::size_t size, io::LengthDelimitedCodec codec = {}) {
  return frames_of(std::string(input, size), codec);
}

TEST(LengthDelimitedCodec, ReadsFramesThatArriveByteByByte) {
  EXPECT_EQ(frames_of("\0\0\0\3abc\0\0\0\0\0\0\0\1x", 16), (Texts{"abc", "", "x"}));
  EXPECT_EQ(frames_of("", 0), Texts{});
}

TEST(LengthDelimitedCodec, ReadsAllKindsOfHeads) {
  const auto codec = [](std::size_t head) {
    return io::LengthDelimitedCodec().length_field_length(head);
  };
  EXPECT_EQ(frames_of("\2ab", 3, codec(1)), (Texts{"ab"}));
  EXPECT_EQ(frames_of("\0\2ab", 4, codec(2)), (Texts{"ab"}));
  EXPECT_EQ(frames_of("\0\0\0\0\0\0\0\2ab", 10, codec(8)), (Texts{"ab"}));
  EXPECT_EQ(frames_of("\2\0ab", 4, codec(2).little_endian()), (Texts{"ab"}));
  EXPECT_EQ(frames_of("\2\0\0\0\0\0\0\0ab", 10, codec(8).little_endian()), (Texts{"ab"}));
  EXPECT_EQ(frames_of("\0\0\2ab", 5, codec(3)), (Texts{"ab"}));
  EXPECT_DEATH((void)io::LengthDelimitedCodec().length_field_length(0), "1 to 8");
  EXPECT_DEATH((void)io::LengthDelimitedCodec().length_field_length(9), "1 to 8");
}

TEST(LengthDelimitedCodec, RefusesAnOversizedLengthAtOnceAndThenEnds) {
  const std::string too_long = name(io::Error::too_long);
  EXPECT_EQ(frames_of("\xff\xff\xff\xff", 4), (Texts{too_long}));
  EXPECT_EQ(frames_of("\0\0\0\1a\xff\xff\xff\xff\0\0\0\1b", 15), (Texts{"a", too_long}));
  EXPECT_EQ(frames_of("\0\x80\0\1", 4), (Texts{too_long})) << "8 MiB and one";
  EXPECT_EQ(
      frames_of("\3", 1, io::LengthDelimitedCodec().length_field_length(1).max_frame_length(2)),
      (Texts{too_long}));
  EXPECT_EQ(
      frames_of("\2ab", 3, io::LengthDelimitedCodec().length_field_length(1).max_frame_length(2)),
      (Texts{"ab"}));
}

TEST(LengthDelimitedCodec, ALengthThatOverflowsIsNoFrame) {
  const std::string all_ones(8, '\xff');
  EXPECT_EQ(frames_of(all_ones + "abc", io::LengthDelimitedCodec().length_field_length(8)),
            (Texts{name(io::Error::too_long)}));
  EXPECT_EQ(frames_of(all_ones + "abc",
                      io::LengthDelimitedCodec().length_field_length(8).max_frame_length(SIZE_MAX)),
            (Texts{name(io::Error::unexpected_eof)}))
      << "nothing was allocated for it";
}

TEST(LengthDelimitedCodec, FailsWhenTheStreamEndsInAFrameOrItsHead) {
  const std::string truncated = name(io::Error::unexpected_eof);
  EXPECT_EQ(frames_of("\0\0\0\3ab", 6), (Texts{truncated}));
  EXPECT_EQ(frames_of("\0\0\0\1a\0\0", 7), (Texts{"a", truncated}));
}

TEST(FramedRead, PassesTheReadersErrorOnAndEnds) {
  const std::error_code reset = std::make_error_code(std::errc::connection_reset);
  io::FramedRead frames(SlowReader(std::string("\1a\2b", 4), reset),
                        io::LengthDelimitedCodec().length_field_length(1));
  EXPECT_EQ(block_on(all_frames(frames)), (Texts{"a", "[" + reset.message() + "]"}));
}

TEST(FramedRead, ADroppedNextLosesNoBytes) {
  using Frames = io::FramedRead<SlowReader, io::LengthDelimitedCodec>;
  std::optional<Frames> frames;
  const auto report = drop_at_each_poll(
      [&] {
        frames.emplace(SlowReader(std::string("\3abc\2de", 7)),
                       io::LengthDelimitedCodec().length_field_length(1));
        return frames->next();
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        EXPECT_EQ(block_on(all_frames(*frames)), k == 5 ? Texts{"de"} : (Texts{"abc", "de"})) << k;
      });
  EXPECT_EQ(report.polls, 5U);
}

/// Ends as a terminal does: whoever reads on after the end waits for more.
struct EndsOnce {
  Poll<Result<std::size_t>> poll_read(Context&, std::span<std::byte> buf) {
    if (reads == 2) return pending;
    if (reads++ == 1) return Poll<Result<std::size_t>>::ready(std::size_t{0});
    buf[0] = std::byte{'x'};
    return Poll<Result<std::size_t>>::ready(std::size_t{1});
  }
  int reads = 0;
};

TEST(FramedRead, DoesNotReadOnAfterTheEnd) {
  io::FramedRead lines(EndsOnce{}, io::LinesCodec());
  EXPECT_EQ(block_on(all_frames(lines)), (Texts{"x"}));
}

TEST(FramedRead, LetsOtherTasksRun) {
  const std::string many(1000, '\0');
  io::FramedRead frames(io::BytesReader(many), io::LengthDelimitedCodec().length_field_length(1));
  Async<Texts> reading = all_frames(frames);
  rouse::testing::CountingWaker waker;
  Context cx(waker.waker(), Context::task_budget);
  EXPECT_TRUE(reading.poll(cx).is_pending());
  EXPECT_EQ(block_on(std::move(reading)).size(), 1000U);
}

std::string sent(io::LengthDelimitedCodec codec, io::Buffer frame) {
  io::FramedWrite frames(SlowWriter(), codec);
  block_on(frames.send(frame));
  EXPECT_EQ(frames.inner().flushed, frames.inner().taken.size());
  return frames.inner().taken;
}

TEST(FramedWrite, SendsTheLengthFirst) {
  EXPECT_EQ(sent(io::LengthDelimitedCodec(), "abc"), std::string("\0\0\0\3abc", 7));
  EXPECT_EQ(sent(io::LengthDelimitedCodec().little_endian(), ""), std::string("\0\0\0\0", 4));
  EXPECT_EQ(sent(io::LengthDelimitedCodec().length_field_length(2).little_endian(), "abc"),
            std::string("\3\0abc", 5));
  const std::string large(0x1234, 'x');
  EXPECT_EQ(sent(io::LengthDelimitedCodec().length_field_length(2), large), "\x12\x34" + large);
}

TEST(LengthDelimitedCodec, EncodesManyFramesIntoOneVectorWithFewAllocations) {
  io::LengthDelimitedCodec codec;
  std::vector<std::byte> output;
  int allocations = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t before = output.capacity();
    ASSERT_TRUE(codec.encode("frame", output));
    if (output.capacity() != before) ++allocations;
  }
  EXPECT_LT(allocations, 30);
}

TEST(FramedWrite, RefusesAFrameThatIsTooLongAndSendsTheNext) {
  io::FramedWrite frames(SlowWriter(), io::LengthDelimitedCodec().length_field_length(1));
  const std::string long_frame(256, 'x');
  EXPECT_EQ(block_on(frames.send(long_frame).result()).error(), io::Error::too_long);
  block_on(frames.send(io::Buffer(long_frame.data(), 255)));
  EXPECT_EQ(frames.inner().taken, "\xff" + std::string(255, 'x'));
  io::FramedWrite few(SlowWriter(), io::LengthDelimitedCodec().max_frame_length(2));
  EXPECT_EQ(block_on(few.send("abc").result()).error(), io::Error::too_long);
}

TEST(FramedWrite, FeedWaitsForAFlushOrAFullBuffer) {
  io::FramedWrite frames(SlowWriter(), io::LengthDelimitedCodec().length_field_length(1));
  block_on(frames.feed("a"));
  block_on(frames.feed("b"));
  EXPECT_EQ(frames.inner().taken, "");
  block_on(frames.flush());
  EXPECT_EQ(frames.inner().taken, "\1a\1b");
  const std::string piece(255, 'x');
  for (int i = 0; i < 40; ++i) block_on(frames.feed(piece));
  EXPECT_GT(frames.inner().taken.size(), 8000U);
  EXPECT_LT(frames.buffer().size(), 9000U);
  block_on(frames.shutdown());
  EXPECT_EQ(frames.inner().taken.size(), 4U + 40U * 256U);
  EXPECT_TRUE(frames.inner().is_shut_down);
}

TEST(FramedWrite, ADroppedSendIsWholeOrNotThere) {
  using Frames = io::FramedWrite<SlowWriter, io::LengthDelimitedCodec>;
  std::optional<Frames> frames;
  const auto report = drop_at_each_poll(
      [&] {
        frames.emplace(SlowWriter(), io::LengthDelimitedCodec().length_field_length(1));
        return frames->send("abc");
      },
      [](std::size_t) {},
      [&](std::size_t k) {
        block_on(frames->send("de"));
        EXPECT_EQ(frames->inner().taken, k == 0 ? "\2de" : "\3abc\2de") << k;
      });
  EXPECT_EQ(report.polls, 6U);
}

TEST(FramedWrite, PassesTheWritersErrorOn) {
  io::FramedWrite frames(SlowWriter(2), io::LengthDelimitedCodec());
  EXPECT_EQ(block_on(frames.send("abc").result()).error(), io::Error::write_zero);
}

TEST(LinesCodec, ReadsLinesOfBothKinds) {
  io::FramedRead lines(SlowReader("one\r\n\ntwo\nlast"), io::LinesCodec());
  EXPECT_EQ(block_on(all_frames(lines)), (Texts{"one", "", "two", "last"}));
}

TEST(LinesCodec, RefusesALineThatIsTooLongBeforeItsEnd) {
  io::FramedRead lines(SlowReader("abc\nabcd"), io::LinesCodec(3));
  EXPECT_EQ(block_on(all_frames(lines)), (Texts{"abc", name(io::Error::too_long)}));
  io::FramedRead huge(SlowReader("abc"), io::LinesCodec(SIZE_MAX));
  EXPECT_EQ(block_on(all_frames(huge)), (Texts{"abc"}));
}

TEST(LinesCodec, SendsLines) {
  io::FramedWrite lines(SlowWriter(), io::LinesCodec(3));
  block_on(lines.send("abc"));
  block_on(lines.send(""));
  EXPECT_EQ(lines.inner().taken, "abc\n\n");
  EXPECT_EQ(block_on(lines.send("a\nb").result()).error(), io::Error::invalid_data);
  EXPECT_EQ(block_on(lines.send("abcd").result()).error(), io::Error::too_long);
}

Async<> send_all(io::WriteHalf<io::DuplexStream> half, std::size_t count) {
  io::FramedWrite frames(std::move(half), io::LengthDelimitedCodec());
  for (std::size_t i = 0; i < count; ++i) {
    const std::string frame(i, 'f');
    co_await frames.feed(frame);
  }
  co_await frames.shutdown();
}

TEST(Framed, FramesOfAllSizesPassBetweenTasks) {
  constexpr std::size_t count = 700;
  Runtime runtime;
  auto [near, far] = io::duplex(1000);
  auto [reader, writer] = io::split(std::move(near));
  auto sending = runtime.spawn(send_all, std::move(writer), count);
  io::FramedRead frames(far, io::LengthDelimitedCodec());
  const Texts all = runtime.block_on(all_frames(frames));
  runtime.block_on(std::move(sending));
  ASSERT_EQ(all.size(), count);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(all[i], std::string(i, 'f'));
}

/// Fills the buffer up to `n` bytes.
void fill(io::FrameBuffer& buffer, std::size_t n) {
  while (buffer.size() < n) {
    const std::span<std::byte> room = buffer.room();
    const std::size_t added = std::min(room.size(), n - buffer.size());
    for (std::size_t i = 0; i < added; ++i)
      room[i] = static_cast<std::byte>((buffer.size() + i) * 7);
    buffer.add(added);
  }
}

TEST(FrameBuffer, IsSmallAgainAfterALargeFrame) {
  io::FrameBuffer buffer;
  for (const std::size_t rest : {0U, 1U, 1'000U, 32'768U}) {
    constexpr std::size_t large = 10'000'000;
    fill(buffer, large);
    buffer.consume(large - rest);
    EXPECT_LE(buffer.room().size() + rest, 65'536U);
    ASSERT_EQ(buffer.size(), rest);
    for (std::size_t i = 0; i < rest; ++i)
      ASSERT_EQ(buffer.bytes()[i], static_cast<std::byte>((large - rest + i) * 7));
    buffer.consume(rest);
  }
}

TEST(FrameBuffer, KeepsItsMemoryForFramesOfUsualSize) {
  io::FrameBuffer buffer;
  fill(buffer, 60'000);
  const std::byte* const memory = buffer.bytes().data();
  for (int i = 0; i < 10; ++i) {
    buffer.consume(buffer.size());
    fill(buffer, 60'000);
    EXPECT_EQ(buffer.bytes().data(), memory);
  }
}

}  // namespace
