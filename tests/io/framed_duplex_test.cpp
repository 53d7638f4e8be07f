// Framed: frames both ways over one connection; FramedWrite and Framed as sinks.
#include "rouse/io/framed_duplex.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/sink.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/io/error.hpp"
#include "rouse/io/length_delimited_codec.hpp"
#include "rouse/io/lines_codec.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/stream/forward.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/send.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/support.hpp"

namespace rouse::framed_duplex_test {
namespace {

using rouse::test::SlowWriter;
using Texts = std::vector<std::string>;
using Peer = io::Framed<io::DuplexStream, io::LinesCodec>;

static_assert(Stream<Peer>);
static_assert(Sink<Peer, std::string> && Sink<Peer, const char*> && Sink<Peer, io::Buffer>);
static_assert(!Sink<Peer, int>);
static_assert(Sink<io::FramedWrite<SlowWriter, io::LinesCodec>, std::string>);

Async<> answer(io::DuplexStream stream) {
  io::Framed peer(std::move(stream), io::LinesCodec());
  while (const auto line = co_await peer.next()) co_await peer.send("> " + line->value());
  co_await peer.shutdown();
}

TEST(Framed, CarriesADialogue) {
  Runtime runtime;
  auto [near, far] = io::duplex(8);
  auto answering = runtime.spawn(answer, std::move(far));
  Peer peer(std::move(near), io::LinesCodec());
  for (int i = 0; i < 100; ++i) {
    const std::string question = "question " + std::to_string(i);
    runtime.block_on(peer.send(question));
    const auto line = runtime.block_on(peer.next());
    ASSERT_TRUE(line);
    EXPECT_EQ(line->value(), "> " + question);
  }
  runtime.block_on(peer.shutdown());
  EXPECT_FALSE(runtime.block_on(peer.next())) << "the other end was shut down, too";
  runtime.block_on(std::move(answering));
}

TEST(Framed, ReceivesAfterItsOwnDirectionIsClosed) {
  auto [near, far] = io::duplex(64);
  Peer peer(std::move(near), io::LinesCodec());
  block_on(peer.feed("bye"));
  EXPECT_EQ(peer.write_buffer().size(), 4U);
  block_on(peer.shutdown());
  EXPECT_EQ(block_on(far.read_to_string()), "bye\n");
  block_on(far.write_all("answer\nrest"));
  EXPECT_EQ(block_on(peer.next())->value(), "answer");
  EXPECT_EQ(test::text(peer.read_buffer()), "rest");
}

/// Numbers what it sends, and knows which number an answer must have.
struct Numbered {
  using Frame = std::string;
  using Outgoing = std::string;

  Result<std::optional<Frame>> decode(io::FrameBuffer& input) {
    Result<std::optional<Frame>> line = lines.decode(input);
    if (!line || !*line) return line;
    if (!(*line)->starts_with(std::to_string(last) + ":")) return io::Error::invalid_data;
    return line;
  }
  Result<std::optional<Frame>> decode_end(io::FrameBuffer& input) { return decode(input); }
  Result<void> encode(const std::string& text, std::vector<std::byte>& output) {
    return lines.encode(std::to_string(++last) + ":" + text, output);
  }

  io::LinesCodec lines;
  int last = 0;
};

TEST(Framed, OneCodecKnowsWhatWasSentAndWhatArrives) {
  auto [near, far] = io::duplex(64);
  io::Framed peer(std::move(near), Numbered());
  block_on(peer.send("one"));
  block_on(peer.send("two"));
  EXPECT_EQ(peer.codec().last, 2);
  block_on(far.write_all("2:yes\n1:no\n"));
  EXPECT_EQ(block_on(peer.next())->value(), "2:yes");
  EXPECT_EQ(block_on(peer.next())->error(), io::Error::invalid_data);
  EXPECT_FALSE(block_on(peer.next())) << "it ends after an error";
}

TEST(Framed, GivesTheStreamBackAndBorrowsAnother) {
  auto [near, far] = io::duplex(64);
  {
    io::Framed borrowing(near, io::LinesCodec());
    EXPECT_TRUE(borrowing.borrows());
    block_on(borrowing.send("one"));
  }
  Peer peer(std::move(near), io::LinesCodec());
  io::DuplexStream stream = std::move(peer).into_inner();
  block_on(stream.write_all("two"));
  block_on(stream.shutdown());
  EXPECT_EQ(block_on(far.read_to_string()), "one\ntwo");
}

TEST(Framed, ADroppedSendIsWholeOrNotThereAndADroppedNextLosesNothing) {
  std::optional<Peer> peer;
  std::optional<io::DuplexStream> other;
  const auto start = [&] {
    auto [near, far] = io::duplex(2);
    peer.emplace(std::move(near), io::LinesCodec());
    other.emplace(std::move(far));
  };
  std::string got;
  const auto take = [&](std::size_t) {
    std::string two(2, ' ');
    two.resize(block_on(other->read(two)));
    got += two;
  };
  const auto sends = rouse::testing::drop_at_each_poll(
      [&] { return start(), got.clear(), peer->send("abc"); }, take,
      [&](std::size_t k) {
        while (!peer->write_buffer().empty()) {
          take(0);
          rouse::testing::CountingWaker waker;
          Context cx(waker.waker());
          (void)peer->poll_flush(cx);
        }
        peer.reset();
        EXPECT_EQ(got + block_on(other->read_to_string()), k == 0 ? "" : "abc\n") << k;
      });
  EXPECT_EQ(sends.polls, 2U);
  const auto nexts = rouse::testing::drop_at_each_poll(
      [&] { return start(), peer->next(); },
      [&](std::size_t k) { block_on(other->write_all(std::string("ab\n").substr(k - 1, 1))); },
      [&](std::size_t k) {
        if (k > 3) return;
        block_on(other->shutdown());
        const auto rest = block_on(peer->next());
        EXPECT_EQ(rest ? rest->value() : "", std::string("ab\n").substr(0, k == 0 ? 0 : k - 1));
      });
  EXPECT_EQ(nexts.polls, 4U);
}

Async<> send_lines(io::FramedWrite<io::WriteHalf<io::DuplexStream>, io::LinesCodec> lines,
                   int count) {
  for (int i = 0; i < count; ++i) co_await lines.feed("a line");
  co_await lines.shutdown();
}

TEST(Framed, SplitIntoTwoTasksItLosesNothingThatWasRead) {
  Runtime runtime;
  auto [near, far] = io::duplex(64);
  auto answering = runtime.spawn(answer, std::move(far));
  Peer peer(std::move(near), io::LinesCodec());
  runtime.block_on(peer.feed("one"));
  runtime.block_on(peer.send("two"));
  EXPECT_EQ(runtime.block_on(peer.next())->value(), "> one");
  auto [in, out] = std::move(peer).split();
  auto sending = runtime.spawn(send_lines, std::move(out), 100);
  EXPECT_EQ(runtime.block_on(in.next())->value(), "> two");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(runtime.block_on(in.next())->value(), "> a line");
  EXPECT_FALSE(runtime.block_on(in.next()));
  runtime.block_on(std::move(sending));
  runtime.block_on(std::move(answering));
}

TEST(Framed, SplitKeepsWhatIsNotYetAFrame) {
  auto [near, far] = io::duplex(64);
  Peer peer(std::move(near), io::LinesCodec());
  block_on(far.write_all("one\nt"));
  EXPECT_EQ(block_on(peer.next())->value(), "one");
  auto [in, out] = std::move(peer).split();
  block_on(far.write_all("wo\n"));
  EXPECT_EQ(block_on(in.next())->value(), "two");
}

TEST(Framed, SplitAfterTheEndStaysAtTheEnd) {
  auto [near, far] = io::duplex(64);
  io::Framed peer(std::move(near), io::LengthDelimitedCodec().max_frame_length(2));
  block_on(far.write_all(std::string_view("\0\0\0\3abc\0\0\0\1a", 12)));
  EXPECT_EQ(block_on(peer.next())->error(), io::Error::too_long);
  auto [in, out] = std::move(peer).split();
  EXPECT_FALSE(block_on(in.next()));
}

TEST(Framed, SplitBeforeAFlushIsAbortedWithAMessage) {
  auto [near, far] = io::duplex(64);
  Peer peer(std::move(near), io::LinesCodec());
  block_on(peer.feed("one"));
  EXPECT_DEATH((void)std::move(peer).split(), "flush\\(\\) it first");
}

Async<Texts> receive(io::DuplexStream stream) {
  Texts all;
  io::FramedRead lines(std::move(stream), io::LinesCodec());
  while (auto line = co_await lines.next()) all.push_back(line->value());
  co_return all;
}

TEST(Framed, IsASinkThatAStreamIsForwardedTo) {
  Runtime runtime;
  auto [near, far] = io::duplex(16);
  auto receiving = runtime.spawn(receive, std::move(far));
  Texts texts(1000, "a line");
  runtime.block_on(stream::forward(stream::iter(texts), Peer(std::move(near), io::LinesCodec())));
  EXPECT_EQ(runtime.block_on(std::move(receiving)), texts);
}

TEST(Framed, EchoesItselfWithForwardOfItsHalves) {
  auto [near, far] = io::duplex(64);
  block_on(near.write_all("one\ntwo\n"));
  block_on(near.shutdown());
  io::FramedRead lines(far, io::LinesCodec());
  block_on(stream::forward(lines, io::FramedWrite(far, io::LinesCodec())));
  EXPECT_EQ(block_on(near.read_to_string()), "one\ntwo\n");
}

TEST(FramedWrite, IsASinkAndGivesItsWriterBack) {
  io::FramedWrite frames(SlowWriter(), io::LinesCodec(1024));
  auto texts = stream::iter(Texts{"one", "two"});
  block_on(stream::send_all(frames, texts));
  EXPECT_EQ(frames.inner().flushed, 8U);
  EXPECT_EQ(block_on(stream::send(frames, "a\nb").result()).error(), io::Error::invalid_data);
  block_on(stream::send(frames, "three"));
  block_on(stream::close(frames));
  const SlowWriter writer = std::move(frames).into_inner();
  EXPECT_TRUE(writer.is_shut_down);
  EXPECT_EQ(writer.taken, "one\ntwo\nthree\n");
}

}  // namespace
}  // namespace rouse::framed_duplex_test
