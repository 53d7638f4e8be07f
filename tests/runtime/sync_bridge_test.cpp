// SyncBridge, SyncStreambuf: streams for code that blocks.
#include "rouse/runtime/sync_bridge.hpp"

#include <istream>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/io/buf_stream.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/io/error.hpp"
#include "rouse/io/split.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/runtime/sync_streambuf.hpp"

namespace rouse::sync_bridge_test {
namespace {

/// A program of others: reads lines and answers each, and knows nothing of futures.
template <class S>
std::string converse(S stream) {
  io::SyncBridge bridge(io::BufStream<S>(std::move(stream)));
  std::string all;
  std::string line;
  while (bridge.read_line(line).value() != 0) {
    all += line;
    bridge.write_all("> " + line).value();
    bridge.flush().value();
    line.clear();
  }
  bridge.shutdown().value();
  return all;
}

Async<std::string> ask(io::DuplexStream& peer) {
  std::string answers;
  for (int i = 0; i < 3; ++i) {
    co_await peer.write_all("question\n");
    std::string answer(11, ' ');
    co_await peer.read_exact(answer);
    answers += answer;
  }
  co_await peer.shutdown();
  co_return answers + co_await peer.read_to_string();
}

class SyncBridgeTest : public ::testing::TestWithParam<bool> {
 protected:
  static Runtime make() {
    if (GetParam()) return Runtime::builder().current_thread().build();
    return Runtime::builder().worker_threads(2).build();
  }
  Runtime runtime = make();
};
INSTANTIATE_TEST_SUITE_P(Runtimes, SyncBridgeTest, ::testing::Bool(), [](const auto& test) {
  return test.param ? "CurrentThread" : "TwoWorkers";
});

TEST_P(SyncBridgeTest, CarriesADialogueWithATask) {
  auto [near, far] = io::duplex(8);
  auto conversing = runtime.spawn_blocking(
      [stream = std::move(far)]() mutable { return converse(std::move(stream)); });
  EXPECT_EQ(runtime.block_on(ask(near)), "> question\n> question\n> question\n");
  EXPECT_EQ(runtime.block_on(std::move(conversing)), "question\nquestion\nquestion\n");
}

Async<std::string> over_tcp() {
  auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
  auto client = co_await net::TcpStream::connect(listener.local_addr());
  auto accepted = co_await listener.accept();
  auto answering = spawn_blocking([stream = std::move(accepted.stream)]() mutable {
    return converse<net::TcpStream>(std::move(stream));
  });
  co_await client.write_all("hello\n");
  std::string answer(8, ' ');
  co_await client.read_exact(answer);
  co_await client.shutdown();
  co_return answer + co_await answering;
}

TEST_P(SyncBridgeTest, WaitsForASocketOfTheRuntime) {
  EXPECT_EQ(runtime.block_on(over_tcp()), "> hello\nhello\n");
}

TEST_P(SyncBridgeTest, GivesErrorsAndTheStreamBack) {
  auto [near, far] = io::duplex(8);
  auto reading = runtime.spawn_blocking([stream = std::move(far)]() mutable {
    io::SyncBridge bridge(std::move(stream));
    std::string text(4, ' ');
    const Result<void> read = bridge.read_exact(text);
    EXPECT_FALSE(read);
    EXPECT_EQ(read.error(), io::Error::unexpected_eof);
    EXPECT_EQ(bridge.read(text).value(), 0U) << "end of file is no error";
    Result<std::size_t> written = bridge.write("x");
    while (written) written = bridge.write("x");  // the other end's reader goes after its writer
    EXPECT_EQ(written.error(), std::errc::broken_pipe);
    return std::move(bridge).into_inner();
  });
  {
    io::DuplexStream dropped = std::move(near);
    runtime.block_on(dropped.write_all("abc"));
  }
  (void)runtime.block_on(std::move(reading));
}

TEST(SyncBridge, InsideATaskItIsAbortedWithAMessage) {
  const auto misuse = [] {
    Runtime runtime;
    auto [near, far] = io::duplex(8);
    const auto task = [](io::DuplexStream stream) -> Async<> {
      io::SyncBridge bridge(std::move(stream));
      (void)bridge.write("x");
      co_return;
    };
    runtime.block_on(task(std::move(near)));
  };
  EXPECT_DEATH(misuse(), "block_on");
}

TEST_P(SyncBridgeTest, StandardStreamsReadAndWriteThroughAStreambuf) {
  auto [near, far] = io::duplex(8);
  auto adding = runtime.spawn_blocking([stream = std::move(far)]() mutable {
    io::SyncStreambuf buf(std::move(stream));
    std::istream in(&buf);
    std::ostream out(&buf);
    int sum = 0;
    for (int number = 0; in >> number;) {
      sum += number;
      out << "sum " << sum << std::endl;
    }
    EXPECT_TRUE(in.eof());
    EXPECT_FALSE(in.bad());
    return sum;
  });
  const auto ask_sums = [](io::DuplexStream& peer) -> Async<std::string> {
    co_await peer.write_all("1 20 ");
    std::string answer(13, ' ');
    co_await peer.read_exact(answer);
    co_await peer.write_all("300");
    co_await peer.shutdown();
    co_return answer + co_await peer.read_to_string();
  };
  EXPECT_EQ(runtime.block_on(ask_sums(near)), "sum 1\nsum 21\nsum 321\n");
  EXPECT_EQ(runtime.block_on(std::move(adding)), 321);
}

TEST_P(SyncBridgeTest, AStreambufMovesMoreThanItsBuffer) {
  auto [near, far] = io::duplex(1000);
  const std::string large(100'000, 'x');
  auto writing = runtime.spawn_blocking([&, stream = std::move(far)]() mutable {
    io::SyncStreambuf buf(std::move(stream));
    std::ostream out(&buf);
    for (const char c : large) out.put(c);
    out << large << std::flush;
    return out.good();
  });
  EXPECT_EQ(runtime.block_on(near.read_to_string()), large + large);
  EXPECT_TRUE(runtime.block_on(std::move(writing)));
}

TEST_P(SyncBridgeTest, WritingToAReaderFailsAndReadingAWriterEnds) {
  auto [near, far] = io::duplex(8);
  auto [reader, writer] = io::split(std::move(far));
  auto refused =
      runtime.spawn_blocking([in = std::move(reader), out = std::move(writer)]() mutable {
        io::SyncStreambuf of_reader(std::move(in));
        std::ostream to_reader(&of_reader);
        to_reader << "nobody takes it";
        EXPECT_TRUE(to_reader.bad());
        io::SyncStreambuf of_writer(std::move(out));
        std::istream from_writer(&of_writer);
        EXPECT_EQ(from_writer.get(), std::istream::traits_type::eof());
        EXPECT_TRUE((std::ostream(&of_writer) << "taken" << std::flush).good());
      });
  runtime.block_on(std::move(refused));
  EXPECT_EQ(runtime.block_on(near.read_to_string()), "taken");
}

TEST_P(SyncBridgeTest, AStandardStreamIsBadAfterAnError) {
  auto [near, far] = io::duplex(8);
  {
    const io::DuplexStream dropped = std::move(near);
  }
  auto writing = runtime.spawn_blocking([stream = std::move(far)]() mutable {
    io::SyncStreambuf buf(std::move(stream));
    std::ostream out(&buf);
    out << "into the void" << std::flush;
    EXPECT_TRUE(out.bad());
    out.clear();
    out.exceptions(std::ios::badbit);
    try {
      out << "again" << std::flush;
      ADD_FAILURE() << "it throws";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::broken_pipe);
    }
  });
  runtime.block_on(std::move(writing));
}

}  // namespace
}  // namespace rouse::sync_bridge_test
