#include "rouse/net/tcp_stream.hpp"

#include <array>
#include <chrono>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/spawner.hpp"
#include "rouse/future/join.hpp"
#include "rouse/io/error.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "net/connect.hpp"
#include "net/native_address.hpp"
#include "net/support.hpp"
#include "sys/socket.hpp"

namespace rouse::net {
namespace {

using namespace std::chrono_literals;

class TcpStreams : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, TcpStreams, both_kinds(), name_of);

/// A port of this machine where nobody listens.
Async<SocketAddr> deserted_address() {
  auto listener = co_await TcpListener::bind(own_loopback());
  co_return listener.local_addr();
}

TEST_P(TcpStreams, BytesGoBothWaysOverBothFamilies) {
  run([]() -> Async<void> {
    for (const char* at : {"127.0.0.1:0", "[::1]:0"}) {
      auto [client, server] = co_await tcp_pair(at);
      std::array<char, 5> buf{};
      co_await client.write_all("hello");
      co_await server.read_exact(buf);
      EXPECT_EQ(text_of(buf, 5), "hello") << at;
      co_await server.write_all("world");
      co_await client.read_exact(buf);
      EXPECT_EQ(text_of(buf, 5), "world") << at;
    }
  });
}

TEST_P(TcpStreams, EachEndKnowsItsOwnAndTheOthersAddress) {
  run([]() -> Async<void> {
    for (const char* at : {"127.0.0.1:0", "[::1]:0"}) {
      auto [client, server] = co_await tcp_pair(at);
      EXPECT_EQ(client.local_addr(), server.peer_addr());
      EXPECT_EQ(client.peer_addr(), server.local_addr());
      EXPECT_TRUE(client.local_addr().ip().is_loopback());
      EXPECT_NE(client.local_addr().port(), 0);
    }
  });
}

TEST_P(TcpStreams, ConnectingToWhereNobodyListensIsRefused) {
  run([]() -> Async<void> {
    const SocketAddr address = co_await deserted_address();
    const auto stream = co_await TcpStream::connect(address).result();
    EXPECT_FALSE(stream);
    if (!stream) {
      EXPECT_EQ(stream.error(), std::errc::connection_refused);
    }
  });
}

TEST_P(TcpStreams, AfterOneSideHasShutDownTheOtherMayStillWrite) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    co_await client.write_all("request");
    co_await client.shutdown();
    const std::string request = co_await server.read_to_string();
    EXPECT_EQ(request, "request");
    co_await server.write_all("answer");
    co_await server.shutdown();
    const std::string answer = co_await client.read_to_string();
    EXPECT_EQ(answer, "answer");
    std::array<char, 8> buf{};
    const std::size_t again = co_await client.read(buf);
    EXPECT_EQ(again, 0U);
  });
}

TEST_P(TcpStreams, WritingAfterItsOwnShutdownIsABrokenPipe) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    co_await client.shutdown();
    const auto written = co_await client.write("x").result();
    EXPECT_TRUE(!written && written.error() == std::errc::broken_pipe);
  });
}

TEST_P(TcpStreams, ShuttingDownTwiceIsNoError) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    co_await client.shutdown();
    const auto again = co_await client.shutdown().result();
    EXPECT_TRUE(again);
  });
}

TEST_P(TcpStreams, APeerThatClosesWithLingerZeroIsSeenAsAReset) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    server.set_linger(0s);
    {
      const TcpStream gone = std::move(server);
    }
    std::array<char, 8> buf{};
    const auto read = co_await client.read(buf).result();
    EXPECT_TRUE(!read && read.error() == std::errc::connection_reset);
  });
}

TEST_P(TcpStreams, WritingToAPeerThatIsGoneIsAnErrorAndNoSignal) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    {
      const TcpStream gone = std::move(server);
    }
    Result<std::size_t> written = co_await client.write("x").result();
    while (written) written = co_await client.write("x").result();
    EXPECT_TRUE(written.error() == std::errc::broken_pipe ||
                written.error() == std::errc::connection_reset)
        << written.error().message();
  });
}

TEST_P(TcpStreams, PeekLeavesTheBytesThere) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    co_await client.write_all("abc");
    std::array<char, 2> two{};
    const std::size_t peeked = co_await server.peek(two);
    EXPECT_EQ(text_of(two, peeked), "ab");
    std::array<char, 3> all{};
    co_await server.read_exact(all);
    EXPECT_EQ(text_of(all, 3), "abc");
    co_await client.shutdown();
    const std::size_t at_end = co_await server.peek(two);
    EXPECT_EQ(at_end, 0U);
  });
}

/// A connection of which both ends know that there is nothing to read.
TcpPair quiet_pair(Runtime& rt) {
  TcpPair pair = rt.block_on(tcp_pair());
  std::array<char, 1> none{};
  EXPECT_FALSE(pair.client.try_read(none));
  EXPECT_FALSE(pair.server.try_read(none));
  return pair;
}

TEST_P(TcpStreams, APeekThatGaveLessThanItHadRoomForLeavesTheSocketReadable) {
  auto [client, server] = quiet_pair(rt);
  ASSERT_TRUE(client.try_write("abc"));
  rt.block_on(server.readable());  // the only event there will be
  std::array<char, 8> buf{};
  EXPECT_EQ(rt.block_on(server.peek(buf)), 3U);
  testing::PollHarness read(server.read(buf));
  auto polled = read.poll();
  ASSERT_TRUE(polled.is_ready()) << "it would wait for bytes that are there";
  EXPECT_EQ(polled.value(), 3U);
}

TEST_P(TcpStreams, AnEndThatCameTogetherWithTheLastBytesIsReadAfterThem) {
  auto [client, server] = quiet_pair(rt);
  ASSERT_TRUE(client.try_write("abc"));
  ASSERT_EQ(::shutdown(client.fd(), SHUT_WR), 0);
  rt.block_on(server.readable());  // on one thread: the only event there will be
  std::array<char, 8> buf{};
  EXPECT_EQ(rt.block_on(server.read(buf)), 3U);
  EXPECT_EQ(rt.block_on(timeout(30s, server.read(buf))), 0U);
}

TEST_P(TcpStreams, SeveralBuffersAreWrittenAndReadWithOneCall) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    const std::array<io::Buffer, 3> out{io::Buffer("one"), io::Buffer(""), io::Buffer("three")};
    const std::size_t written = co_await client.writev(out);
    EXPECT_EQ(written, 8U);
    std::array<char, 4> a{};
    std::array<char, 8> b{};
    const std::array<io::BufferMut, 2> in{io::BufferMut(a), io::BufferMut(b)};
    const std::size_t read = co_await server.readv(in);
    EXPECT_EQ(read, 8U);
    EXPECT_EQ(text_of(a, 4), "onet");
    EXPECT_EQ(text_of(b, 4), "hree");
  });
}

TEST_P(TcpStreams, ManyEmptyBuffersAreNeitherTheEndNorARefusal) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    std::vector<io::Buffer> out(64);
    out.emplace_back("here");
    const std::size_t written = co_await client.writev(out);
    EXPECT_EQ(written, 4U);
    std::array<char, 8> buf{};
    std::vector<io::BufferMut> in(64);
    in.emplace_back(buf);
    const std::size_t read = co_await server.readv(in);
    EXPECT_EQ(text_of(buf, read), "here");
  });
}

TEST_P(TcpStreams, WhatManyBuffersHadNoRoomForTheNextReadGives) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    const std::string sent(100, 'x');
    co_await client.write_all(sent);
    std::array<char, 200> buf{};
    std::size_t arrived = 0;
    while (arrived < 100) arrived = co_await server.peek(buf);
    std::vector<io::BufferMut> in;
    for (char& byte : buf) in.emplace_back(&byte, 1);
    std::size_t read = 0;
    while (read < 100) read += co_await server.readv(in);
    EXPECT_EQ(read, 100U);
  });
}

TEST_P(TcpStreams, AReadWithoutDataWouldBlockAndOneWithDataDoesNot) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    std::array<char, 8> buf{};
    const auto nothing = server.try_read(buf);
    EXPECT_TRUE(!nothing && nothing.error() == std::errc::operation_would_block);
    const auto written = client.try_write("hi");
    EXPECT_TRUE(written && *written == 2);
    co_await server.readable();
    const auto read = server.try_read(buf);
    EXPECT_TRUE(read && text_of(buf, *read) == "hi");
  });
}

std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 251);
  return bytes;
}

Async<std::string> read_slowly(TcpStream& stream, std::size_t size) {
  std::string all;
  std::array<char, 4099> buf{};
  while (all.size() < size) {
    const std::size_t n = co_await stream.read(buf);
    if (n == 0) break;
    all.append(buf.data(), n);
  }
  co_return all;
}

TEST_P(TcpStreams, AWriterWaitsForASlowReaderAndNothingIsLost) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    std::string expected;
    const std::string chunk = pattern(65'536);
    for (;;) {  // until nothing more fits between the two
      const auto n = client.try_write(chunk);
      if (!n) break;
      expected.append(chunk, 0, *n);
    }
    const std::string rest = pattern(3'000'001);
    testing::PollHarness stuck(client.write_all(rest));
    const bool is_pending = stuck.poll().is_pending();
    EXPECT_TRUE(is_pending && stuck.kept_waker());
    expected += rest;
    const auto finish = [&]() -> Async<std::size_t> {
      co_await stuck.future();
      co_return rest.size();
    };
    auto [read, written] = co_await join(read_slowly(server, expected.size()), finish());
    EXPECT_EQ(written, rest.size());
    EXPECT_TRUE(read == expected);
  });
}

TEST_P(TcpStreams, OptionsAreAsTheyWereSet) {
  run([]() -> Async<void> {
    for (const char* at : {"127.0.0.1:0", "[::1]:0"}) {
      auto [client, server] = co_await tcp_pair(at);
      for (const bool on : {true, false}) {
        client.set_nodelay(on);
        EXPECT_EQ(client.nodelay(), on);
        client.set_keepalive(on);
        EXPECT_EQ(client.keepalive(), on);
      }
      EXPECT_EQ(client.linger(), std::nullopt);
      client.set_linger(3s);
      EXPECT_EQ(client.linger(), 3s);
      client.set_linger(std::nullopt);
      EXPECT_EQ(client.linger(), std::nullopt);
      client.set_ttl(33);
      EXPECT_EQ(client.ttl(), 33U);
      EXPECT_THROW(client.set_ttl(100'000), std::system_error);
      EXPECT_TRUE(client.take_error());
    }
  });
}

TEST_P(TcpStreams, TheHopLimitOfAnIpv6StreamIsWhatSetTtlSets) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair("[::1]:0");
    client.set_ttl(7);
    EXPECT_EQ(sys::get_option(client.fd(), sys::SocketOption::hops_v6).value(), 7);
  });
}

TEST_P(TcpStreams, WhereTheFirstAddressRefusesTheNextIsTried) {
  run([]() -> Async<void> {
    const SocketAddr nobody = co_await deserted_address();
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    std::vector<SocketAddr> addresses{nobody, nobody, listener.local_addr(), nobody};
    auto stream = co_await connect_to_first(addresses);
    EXPECT_EQ(stream.peer_addr(), listener.local_addr());
  });
}

/// An address that never answers: its queue is full, and the system drops who knocks.
class SilentAddress {
 public:
  SilentAddress() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sys::bind(listener_.get(), to_native(SocketAddr::parse(own_loopback()).value())).value();
    sys::listen(listener_.get(), 0).value();
    address = from_native(sys::local_address(listener_.get()).value()).value();
    for (auto& waits : queue_) {
      waits = io::OwnedFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      (void)sys::connect(waits.get(), to_native(address)).value();
    }
  }
  SocketAddr address;

 private:
  io::OwnedFd listener_;
  std::array<io::OwnedFd, 4> queue_;
};

TEST(TcpConnect, AnAddressThatDoesNotAnswerDelaysTheNextAndOneThatRefusesDoesNot) {
  Runtime rt = Runtime::builder().current_thread().start_paused().build();
  rt.block_on([]() -> Async<void> {
    const SilentAddress silent;
    const SocketAddr nobody = co_await deserted_address();
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    std::vector<SocketAddr> addresses{silent.address, nobody, nobody, listener.local_addr()};
    const time::Instant start = time::now();
    auto stream = co_await connect_to_first(addresses);
    EXPECT_EQ(stream.peer_addr(), listener.local_addr());
    EXPECT_GE(time::now() - start, 250ms);
    EXPECT_LT(time::now() - start, 500ms) << "those that refuse at once need no wait of their own";
  }());
}

TEST_P(TcpStreams, WhereAllAddressesFailTheErrorIsThatOfTheFirst) {
  run([]() -> Async<void> {
    const SocketAddr nobody = co_await deserted_address();
    std::vector<SocketAddr> addresses{nobody, SocketAddr::parse("unix:/x").value(), nobody};
    const auto refused = co_await connect_to_first(addresses).result();
    EXPECT_TRUE(!refused && refused.error() == std::errc::connection_refused);
    std::vector<SocketAddr> others{SocketAddr::parse("unix:/x").value(), nobody};
    const auto wrong = co_await connect_to_first(others).result();
    EXPECT_TRUE(!wrong && wrong.error() == std::errc::address_family_not_supported);
  });
}

Async<void> drop_after_others_have_begun(std::optional<SilentAddress>& silent) {
  co_await sleep(500ms);
  silent.reset();
}

TEST(TcpConnect, TheErrorIsThatOfTheFirstAddressThoughOthersFailedBefore) {
  Runtime rt = Runtime::builder().current_thread().start_paused().build();
  rt.block_on([]() -> Async<void> {
    std::optional<SilentAddress> silent;
    silent.emplace();
    std::vector<SocketAddr> addresses{silent->address, SocketAddr::parse("unix:/x").value()};
    auto connect = connect_to_first(addresses);
    auto dropping = drop_after_others_have_begun(silent);
    // The system knocks again after a second, and is refused then.
    const auto both = co_await join(std::move(connect).result(), std::move(dropping));
    const auto& refused = std::get<0>(both);
    EXPECT_TRUE(!refused && refused.error() == std::errc::connection_refused);
  }());
}

TEST_P(TcpStreams, AConnectDroppedMidwayLeaksNoDescriptor) {
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    const std::size_t before = open_descriptors();
    for (int polls = 0; polls < 3; ++polls) {
      testing::PollHarness connect(TcpStream::connect(listener.local_addr()));
      for (int i = 0; i < polls && connect.poll().is_pending(); ++i) {
      }
    }
    EXPECT_EQ(open_descriptors(), before);
  });
}

TEST_P(TcpStreams, AReadDroppedAtAnyPollLosesNoByte) {
  TcpPair pair = run([] { return tcp_pair(); });
  std::array<char, 4> buf{};
  const auto send = [&](const char* text) {
    ASSERT_TRUE(pair.client.try_write(text));
    rt.block_on(pair.server.readable());
  };
  const auto report = testing::drop_at_each_poll(
      [&] { return pair.server.read(buf); }, [&](std::size_t) { send("b"); },
      [&](std::size_t k) {
        if (k == 2) {
          EXPECT_EQ(buf[0], 'b');
          return;
        }
        send("a");
        EXPECT_EQ(rt.block_on(pair.server.read(buf)), 1U);
        EXPECT_EQ(buf[0], 'a');
      });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_FALSE(report.threw);
}

TEST_P(TcpStreams, WhatComesAfterAnUrgentByteIsRead) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    std::array<char, 32> buf{};
    EXPECT_FALSE(server.try_read(buf));
    EXPECT_EQ(::send(client.fd(), "ab", 2, MSG_NOSIGNAL), 2);
    EXPECT_EQ(::send(client.fd(), "!", 1, MSG_NOSIGNAL | MSG_OOB), 1);
    EXPECT_EQ(::send(client.fd(), "cd", 2, MSG_NOSIGNAL), 2);
    co_await server.readable();
    // The system stops before the urgent byte, so this is less than there is and less than wanted.
    const std::size_t before = co_await server.read(buf);
    EXPECT_EQ(text_of(buf, before), "ab");
    const std::size_t after = co_await server.read(buf);  // for ever, if a short read were all
    EXPECT_EQ(text_of(buf, after), "cd");
  });
}

TEST_P(TcpStreams, TwoTasksReadAndWriteOneStreamAtOnce) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    const std::string data = pattern(2'000'000);
    auto [a, b, c, d] = co_await join(client.write_all(data), read_slowly(client, data.size()),
                                      server.write_all(data), read_slowly(server, data.size()));
    (void)a;
    (void)c;
    EXPECT_TRUE(b == data);
    EXPECT_TRUE(d == data);
  });
}

TEST_P(TcpStreams, AStreamThatOutlivesItsRuntimeSaysSoAndLeaksNothing) {
  const std::size_t before = open_descriptors();
  {
    std::optional<Runtime> inner(make_runtime(GetParam()));
    std::optional<TcpPair> pair(inner->block_on(tcp_pair()));
    std::array<char, 4> buf{};
    // What it counted as ready for it may still try; this has nothing to read.
    EXPECT_FALSE(pair->server.try_read(buf));
    inner.reset();
    testing::PollHarness read(pair->server.read(buf).result());
    auto polled = read.poll();
    ASSERT_TRUE(polled.is_ready());
    ASSERT_FALSE(polled.value());
    EXPECT_EQ(polled.value().error(), io::Error::runtime_ended);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(TcpStreams, AnOwnDescriptorThatIsClosedOrAFileIsAnError) {
  const EnterGuard here = rt.enter();
  const auto none = TcpStream::from_fd(io::OwnedFd(1'000'000));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(), std::errc::bad_file_descriptor);
  io::OwnedFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file);
  const auto regular = TcpStream::from_fd(std::move(file));
  ASSERT_FALSE(regular);
  EXPECT_EQ(regular.error(), io::Error::not_pollable);
  const auto empty = TcpListener::from_fd(io::OwnedFd());
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error(), std::errc::bad_file_descriptor);
}

TEST_P(TcpStreams, ADescriptorThatIsGivenAwayGoesOn) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    io::OwnedFd fd = std::move(client).into_fd();
    auto again = TcpStream::from_fd(std::move(fd)).value();
    co_await again.write_all("still here");
    std::array<char, 32> buf{};
    const std::size_t n = co_await server.read(buf);
    EXPECT_EQ(text_of(buf, n), "still here");
  });
}

TEST(TcpStreamDeathTest, ASocketMadeOutsideOfARuntimeAbortsWithAHint) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto ends = sys::socket_pair(sys::SocketKind::stream).value();
        (void)TcpStream::from_fd(std::move(ends.first));
      },
      "made outside of a runtime");
}

}  // namespace
}  // namespace rouse::net
