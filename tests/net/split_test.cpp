// The owned halves of a connection.
#include <array>
#include <string>
#include <sys/socket.h>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/exec/spawner.hpp"
#include "rouse/net/unix_datagram.hpp"
#include "rouse/net/unix_stream.hpp"

#include "net/support.hpp"

namespace rouse::net {
namespace {

class OwnedHalves : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, OwnedHalves, both_kinds(), name_of);

template <class S>
Async<void> check_fin_and_answer(S here, S there) {
  auto [reader, writer] = std::move(here).split();
  {
    auto sender = std::move(writer);
    co_await sender.write_all("request");
  }
  const std::string request = co_await there.read_to_string();
  EXPECT_EQ(request, "request");
  co_await there.write_all("answer");
  co_await there.shutdown();
  const std::string answer = co_await reader.read_to_string();
  EXPECT_EQ(answer, "answer");
}

TEST_P(OwnedHalves, WithoutTheWriteHalfThePeerReadsEndOfFileAndMayStillAnswer) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    co_await check_fin_and_answer(std::move(client), std::move(server));
    auto [here, there] = UnixStream::pair();
    co_await check_fin_and_answer(std::move(here), std::move(there));
  });
}

TEST_P(OwnedHalves, AForgottenWriteHalfLeavesItsDirectionOpenUntilTheOtherGoes) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    {
      auto [reader, writer] = std::move(client).split();
      std::move(writer).forget();
      co_await server.write_all("x");
      std::array<char, 1> buf{};
      co_await reader.read_exact(buf);  // whatever the peer were to read, it has come by now
      const auto seen = server.try_read(buf);
      EXPECT_TRUE(!seen && seen.error() == std::errc::operation_would_block);
    }
    std::array<char, 1> buf{};
    const std::size_t read = co_await server.read(buf);
    EXPECT_EQ(read, 0U);
  });
}

TEST_P(OwnedHalves, AssigningAWriteHalfShutsDownWhatItHad) {
  run([]() -> Async<void> {
    auto [first, first_peer] = co_await tcp_pair();
    auto [second, second_peer] = co_await tcp_pair();
    auto [first_reader, writer] = std::move(first).split();
    auto [second_reader, other] = std::move(second).split();
    writer = std::move(other);
    std::array<char, 1> buf{};
    const std::size_t read = co_await first_peer.read(buf);
    EXPECT_EQ(read, 0U);
    co_await writer.write_all("y");
    co_await second_peer.read_exact(buf);
    EXPECT_EQ(buf[0], 'y');
  });
}

TEST_P(OwnedHalves, KnowTheAddressesAndTheStream) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    auto [reader, writer] = std::move(client).split();
    EXPECT_EQ(reader.peer_addr(), server.local_addr());
    EXPECT_EQ(reader.local_addr(), server.peer_addr());
    EXPECT_EQ(writer.peer_addr(), server.local_addr());
    EXPECT_EQ(writer.local_addr(), server.peer_addr());
    writer.get_ref().set_nodelay(true);
    EXPECT_TRUE(reader.get_ref().nodelay());
    co_await server.write_all("x");
    co_await reader.get_ref().readable();
    std::array<char, 4> buf{};
    EXPECT_EQ(reader.get_ref().try_read(buf).value(), 1U);
  });
}

TEST_P(OwnedHalves, PutTogetherAgainAreTheOpenStream) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    auto [reader, writer] = std::move(client).split();
    TcpStream whole = io::unsplit(std::move(reader), std::move(writer));
    co_await whole.write_all("x");
    std::array<char, 1> buf{};
    co_await server.read_exact(buf);
    co_await server.write_all("y");
    co_await whole.read_exact(buf);
    EXPECT_EQ(buf[0], 'y');
  });
}

TEST_P(OwnedHalves, ServeTwoTasksAndTheTasksEndIsTheEndOfFile) {
  run([]() -> Async<void> {
    constexpr std::size_t size = 1 << 20;
    auto [client, server] = co_await tcp_pair();
    auto [reader, writer] = std::move(client).split();
    const auto write = [](OwnedWriteHalf<TcpStream> half) -> Async<void> {
      const std::string bytes(size, 'b');
      co_await half.write_all(bytes);
    };
    auto writing = spawn(write, std::move(writer));
    const auto echo = [](TcpStream stream) -> Async<void> {
      std::array<char, 4096> buf{};
      while (const std::size_t n = co_await stream.read(buf)) {
        co_await stream.write_all({buf.data(), n});
      }
    };
    auto echoing = spawn(echo, std::move(server));
    const std::string all = co_await reader.read_to_string();
    EXPECT_EQ(all, std::string(size, 'b'));
    co_await std::move(writing);
    co_await std::move(echoing);
  });
}

TEST_P(OwnedHalves, AWriteHalfOfAConnectionThatWasResetGoesQuietly) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    auto [reader, writer] = std::move(client).split();
    server.set_linger(std::chrono::seconds(0));
    {
      const TcpStream gone = std::move(server);
    }
    std::array<char, 1> buf{};
    const auto read = co_await reader.read(buf).result();
    EXPECT_TRUE(!read && read.error() == std::errc::connection_reset);
    const OwnedWriteHalf<TcpStream> dropped = std::move(writer);
  });
}

class SocketReadiness : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, SocketReadiness, both_kinds(), name_of);

TEST_P(SocketReadiness, ACallOfTheUsersOwnRunsWhenAStreamIsReady) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    std::array<char, 4> buf{};
    const auto peek = [&] { return ::recv(server.fd(), buf.data(), buf.size(), MSG_PEEK); };
    const auto early = server.try_io(io::Interest::readable, peek);
    EXPECT_TRUE(!early && early.error() == std::errc::operation_would_block);
    co_await client.write_all("abc");
    const std::size_t seen = co_await server.async_io(io::Interest::readable, peek);
    EXPECT_EQ(seen, 3U);
    const io::ReadyGuard guard = co_await server.ready(io::Interest::both);
    EXPECT_TRUE(guard.ready().is_readable());
    EXPECT_TRUE(guard.ready().is_writable());
    EXPECT_EQ(server.try_io(io::Interest::readable, peek).value(), 3U);
  });
}

TEST_P(SocketReadiness, ACallOfTheUsersOwnRunsWhenADatagramSocketIsReady) {
  run([]() -> Async<void> {
    auto [here, there] = UnixDatagram::pair();
    std::array<char, 4> buf{};
    const auto peek = [&] { return ::recv(there.fd(), buf.data(), buf.size(), MSG_PEEK); };
    co_await here.send("ab");
    const io::ReadyGuard guard = co_await there.ready(io::Interest::readable);
    EXPECT_TRUE(guard.ready().is_readable());
    EXPECT_EQ(there.try_io(io::Interest::readable, peek).value(), 2U);
    const std::size_t seen = co_await there.async_io(io::Interest::readable, peek);
    EXPECT_EQ(seen, 2U);
  });
}

}  // namespace
}  // namespace rouse::net
