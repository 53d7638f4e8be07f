// A connection after its handshake, over a pipe that the tests can see into.
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "rouse/io/any_connection.hpp"
#include "rouse/io/bytes_reader.hpp"
#include "rouse/io/copy.hpp"
#include "rouse/io/split.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "support/program.hpp"
#include "support/shape_text.hpp"
#include "tls/support.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

static_assert(AsyncRead<TlsPipe> && AsyncWrite<TlsPipe> && AsyncWriteVectored<TlsPipe>);
static_assert(std::is_nothrow_move_constructible_v<TlsPipe>);
static_assert(!io::is_full_duplex<TlsPipe>, "an SSL is for one thread at a time");

std::pair<TlsPipe, TlsPipe> connected(std::size_t capacity = 65536) {
  static const tls::Connector connector(client_config());
  static const tls::Acceptor acceptor(server_config());
  Ends ends = connect(connector, acceptor, "localhost", capacity);
  return {std::move(ends.client).value(), std::move(ends.server).value()};
}

template <class W>
Async<> send_all(W writer, std::string text) {
  co_await writer.write_all(text);
  co_await writer.shutdown();
}
template <class R>
Async<std::string> receive_all(R reader) {
  co_return co_await reader.read_to_string();
}

// --- transfers -----------------------------------------------------------------------------------

TEST(Stream, BothHalvesWorkAtTheSameTimeThroughPipesOfAnySize) {
  Runtime runtime = Runtime::builder().worker_threads(2).build();
  for (const std::size_t capacity : {1U, 13U, 500U, 4096U, 65536U}) {
    const std::string there = noise(capacity == 1 ? 20'000 : 500'000, 1);
    const std::string back = noise(capacity == 1 ? 20'000 : 500'000, 2);
    auto [client, server] = connected(capacity);
    auto [client_reader, client_writer] = io::split(std::move(client));
    auto [server_reader, server_writer] = io::split(std::move(server));
    auto sending = runtime.spawn(send_all<io::WriteHalf<TlsPipe>>, std::move(client_writer), there);
    auto answering =
        runtime.spawn(send_all<io::WriteHalf<TlsPipe>>, std::move(server_writer), back);
    auto heard = runtime.spawn(receive_all<io::ReadHalf<TlsPipe>>, std::move(server_reader));
    EXPECT_EQ(runtime.block_on(receive_all(std::move(client_reader))), back) << capacity;
    EXPECT_EQ(runtime.block_on(std::move(heard)), there) << capacity;
    runtime.block_on(std::move(sending));
    runtime.block_on(std::move(answering));
  }
}

TEST(Stream, WorksAsAnAnyConnectionInACopy) {
  auto [client, server] = connected(100);
  io::AnyConnection peer(std::move(server));
  EXPECT_FALSE(peer.is_full_duplex());
  const std::string text = noise(100'000);
  auto copying = [](TlsPipe from, std::string& into) -> Async<> {
    into = co_await from.read_to_string();
  };
  std::string heard;
  auto sending = [](io::AnyConnection to, const std::string& said) -> Async<> {
    io::BytesReader source(said);
    co_await io::copy(source, to);
    co_await to.shutdown();
  };
  block_on(join(copying(std::move(client), heard), sending(std::move(peer), text)));
  EXPECT_EQ(heard, text);
}

TEST(Stream, SeveralSmallBuffersGoOutInOneRecord) {
  auto [client, server] = connected();
  const std::array<io::Buffer, 4> parts{io::Buffer("head "), io::Buffer(), io::Buffer("body"),
                                        io::Buffer()};
  EXPECT_EQ(block_on(client.writev(parts)), 9U);
  std::array<char, 16> buf{};
  EXPECT_EQ(block_on(server.read(buf)), 9U) << "a read gives one record at most";
  EXPECT_EQ(std::string(buf.data(), 9), "head body");
}

TEST(Stream, BuffersOfAllSizesArriveInOrder) {
  std::minstd_rand random(3);
  for (int round = 0; round < 30; ++round) {
    auto [near, far] = connected(1 << 20);
    TlsPipe& client = near;
    TlsPipe& server = far;
    std::vector<std::string> texts;
    std::string whole;
    std::vector<io::Buffer> parts;
    for (std::size_t i = 0; i < random() % 12; ++i)
      texts.push_back(noise(random() % (random() % 2 == 0 ? 50 : 40'000), random()));
    for (const std::string& text : texts) {
      whole += text;
      parts.emplace_back(text);
    }
    auto send = [&]() -> Async<> {
      co_await client.write_all_vectored(parts);
      co_await client.shutdown();
    };
    auto receive = [&]() -> Async<std::string> { co_return co_await server.read_to_string(); };
    auto [nothing, heard] = block_on(join(send(), receive()));
    EXPECT_EQ(heard, whole);
  }
}

// --- cancelled operations ------------------------------------------------------------------------

TEST(Stream, ADroppedReadLosesNothing) {
  auto [near, far] = connected();
  TlsPipe& client = near;
  TlsPipe& server = far;
  std::array<char, 8> buf{};
  const auto report = drop_at_each_poll([&] { return client.read(buf); },
                                        [&](std::size_t) { block_on(server.write_all("ab")); });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(std::string(buf.data(), 2), "ab");
}

TEST(Stream, ADroppedReadLosesNothingOfARecordThatCameInPart) {
  auto [near, far] = connected(7);
  TlsPipe& client = near;
  TlsPipe& server = far;
  auto writing = server.write_all("whole");
  Context cx(Waker::noop());
  EXPECT_TRUE(writing.poll(cx).is_ready());
  std::array<char, 8> buf{};
  const auto step = [&](std::size_t) {
    auto flush = server.flush();
    (void)flush.poll(cx);
  };
  const auto report = drop_at_each_poll([&] { return client.read(buf); }, step);
  EXPECT_GT(report.polls, 1U);
  EXPECT_EQ(std::string(buf.data(), 5), "whole");
}

TEST(Stream, AfterADroppedWriteOtherBytesMayFollow) {
  auto [near, far] = connected(64);
  TlsPipe& client = near;
  TlsPipe& server = far;
  const std::string filler = noise(200'000);
  Context cx(Waker::noop());
  std::string taken;
  while (true) {
    auto writing =
        client.write(io::Buffer(filler.data() + taken.size(), filler.size() - taken.size()));
    const auto polled = writing.poll_result(cx);
    if (polled.is_pending()) break;  // dropped: it has taken nothing
    taken += filler.substr(taken.size(), *polled.value());
  }
  EXPECT_GE(taken.size(), 65536U) << "so much waits to be sent";
  EXPECT_LT(taken.size(), filler.size());
  std::string heard(taken.size(), '\0');
  auto rest = [&]() -> Async<> {
    co_await client.write_all("something else");
    co_await client.shutdown();
  };
  auto listen = [&]() -> Async<std::string> { co_return co_await server.read_to_string(); };
  auto [nothing, all] = block_on(join(rest(), listen()));
  EXPECT_EQ(all, taken + "something else");
}

TEST(Stream, AFlushAndAShutdownThatWereDroppedAreDoneByTheNext) {
  for (const bool ends : {false, true}) {
    auto [near, far] = connected(10);
    TlsPipe& client = near;
    TlsPipe& server = far;
    Context cx(Waker::noop());
    EXPECT_TRUE(client.write("a longer text").poll(cx).is_ready());
    std::string heard;
    std::array<char, 64> buf{};
    const auto step = [&](std::size_t) {
      const auto read = server.read(buf).poll_result(cx);
      if (read.is_ready()) heard.append(buf.data(), *read.value());
    };
    const auto report = ends ? drop_at_each_poll([&] { return client.shutdown(); }, step)
                             : drop_at_each_poll([&] { return client.flush(); }, step);
    EXPECT_GT(report.polls, 1U);
    step(0);
    EXPECT_EQ(heard, "a longer text");
    if (ends) {
      EXPECT_EQ(block_on(server.read(buf)), 0U);
    }
  }
}

// --- waiting -------------------------------------------------------------------------------------

TEST(Stream, APeerThatNeverReadsHoldsUpTheWriterOnly) {
  auto [client, server] = connected(1000);
  const std::string much = noise(300'000);
  PollHarness writing(client.write_all(much));
  EXPECT_TRUE(writing.poll().is_pending());
  EXPECT_TRUE(writing.kept_waker());
  block_on(server.write_all("I do not listen"));
  block_on(server.flush());
  std::array<char, 64> buf{};
  EXPECT_EQ(block_on(client.read(buf)), 15U);
  EXPECT_TRUE(writing.poll().is_pending());
  EXPECT_LT(writing.future().written(), std::size_t{128} * 1024) << "the rest was not taken";
  Context cx(Waker::noop());
  EXPECT_TRUE(server.read(buf).poll(cx).is_pending()) << "a part of a record";
  EXPECT_TRUE(writing.is_woken());
}

TEST(Stream, AReadAndAWriteWaitWithWakersOfTheirOwn) {
  auto [client, server] = connected(4096);
  std::array<char, 8> buf{};
  const std::string much = noise(100'000);
  auto [reader, writer] = io::split(std::move(client));
  PollHarness reading(reader.read(buf));
  PollHarness writing(writer.write_all(much));
  EXPECT_TRUE(reading.poll().is_pending());
  EXPECT_TRUE(writing.poll().is_pending());
  EXPECT_TRUE(reading.kept_waker() && writing.kept_waker());
  block_on(server.write_all("x"));
  EXPECT_TRUE(reading.is_woken());
  EXPECT_FALSE(writing.is_woken());
  EXPECT_TRUE(reading.poll().is_ready());
}

TEST(Stream, WhatWasReadAheadTakesSteps) {
  auto [client, server] = connected();
  block_on(server.write_all(std::string(1000, 'x')));
  const rouse::testing::CountingWaker waker;
  Context cx(waker.waker(), Context::task_budget);
  std::array<char, 1> buf{};
  std::size_t reads = 0;
  while (client.read(buf).poll_result(cx).is_ready()) ++reads;
  EXPECT_LE(reads, Context::task_budget);
  EXPECT_EQ(waker.count(), 1U);
}

TEST(Stream, ADumpSeesTheStreamBelow) {
  auto [client, server] = connected();
  std::array<char, 8> buf{};
  auto reading = client.read(buf);
  Context cx(Waker::noop());
  EXPECT_TRUE(reading.poll(cx).is_pending());
  EXPECT_EQ(ShapeText(reading).text(), "read(duplex)");
}

// --- the end -------------------------------------------------------------------------------------

TEST(Stream, AShutdownEndsOneDirection) {
  auto [client, server] = connected();
  block_on(client.shutdown());
  EXPECT_EQ(block_on(server.read_to_string()), "");
  block_on(server.write_all("still talking"));
  block_on(server.shutdown());
  EXPECT_EQ(block_on(client.read_to_string()), "still talking");
  EXPECT_EQ(block_on(client.write("more").result()).error(), std::errc::broken_pipe);
  EXPECT_TRUE(block_on(client.shutdown().result())) << "twice is no error";
}

TEST(Stream, WithoutAGoodByeTheEndIsUnexpected) {
  auto [client, server] = connected();
  block_on(server.write_all("half of wha"));
  {
    const TlsPipe gone = std::move(server);
  }
  std::string heard;
  EXPECT_EQ(block_on(client.read_to_end(heard).result()).error(), io::Error::unexpected_eof);
  EXPECT_EQ(heard, "half of wha");
}

TEST(Stream, ThatThePeerClosedSaysSoWhenItIsWrittenTo) {
  auto [client, server] = connected();
  {
    const TlsPipe gone = std::move(server);
  }
  EXPECT_TRUE(block_on(client.write("into the void").result())) << "it was taken";
  EXPECT_EQ(block_on(client.flush().result()).error(), std::errc::broken_pipe);
  EXPECT_EQ(block_on(client.write("again").result()).error(), std::errc::broken_pipe);
}

TEST(Stream, NothingIsReadIntoNothing) {
  auto [client, server] = connected();
  EXPECT_EQ(block_on(client.read(io::BufferMut())), 0U);
  EXPECT_EQ(block_on(client.write("")), 0U);
}

TEST(Stream, DiesWhenItIsUsedAfterAMove) {
  auto [client, server] = connected();
  const TlsPipe taken = std::move(client);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
  EXPECT_DEATH((void)block_on(client.write("x")), "moved from");
}

}  // namespace
