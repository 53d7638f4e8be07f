#include "rouse/net/tcp_socket.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <system_error>

#include <gtest/gtest.h>

#include "net/support.hpp"
#include "sys/socket.hpp"

namespace rouse::net {
namespace {

using namespace std::chrono_literals;

class TcpSockets : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, TcpSockets, both_kinds(), name_of);

TEST(TcpSocket, OptionsAreAsTheyWereSet) {
  for (const bool v6 : {false, true}) {
    TcpSocket socket = v6 ? TcpSocket::v6() : TcpSocket::v4();
    for (const bool on : {true, false}) {
      socket.set_reuseaddr(on);
      EXPECT_EQ(socket.reuseaddr(), on);
      socket.set_reuseport(on);
      EXPECT_EQ(socket.reuseport(), on);
      socket.set_nodelay(on);
      EXPECT_EQ(socket.nodelay(), on);
      socket.set_keepalive(on);
      EXPECT_EQ(socket.keepalive(), on);
    }
    socket.set_linger(2s);
    EXPECT_EQ(socket.linger(), 2s);
    socket.set_send_buffer_size(40'000);
    EXPECT_GE(socket.send_buffer_size(), 40'000U);
    socket.set_recv_buffer_size(50'000);
    EXPECT_GE(socket.recv_buffer_size(), 50'000U);
    socket.set_keepalive_times(60s, 10s, 5);
    EXPECT_EQ(sys::get_option(socket.fd(), sys::SocketOption::keepalive_idle).value(), 60);
    EXPECT_EQ(sys::get_option(socket.fd(), sys::SocketOption::keepalive_interval).value(), 10);
    EXPECT_EQ(sys::get_option(socket.fd(), sys::SocketOption::keepalive_count).value(), 5);
  }
}

void expect_invalid(const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "was taken";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::invalid_argument);
  }
}

TEST(TcpSocket, TimesThatAreNegativeOrTooLongAreNotTakenForOthers) {
  constexpr std::chrono::seconds minute_beyond = (1s * (std::int64_t{1} << 32)) + 60s;
  TcpSocket socket = TcpSocket::v4();
  socket.set_keepalive_times(70s, 10s, 5);
  expect_invalid([&] { socket.set_keepalive_times(-1s, 10s, 5); });
  expect_invalid([&] { socket.set_keepalive_times(60s, -1s, 5); });
  expect_invalid([&] { socket.set_keepalive_times(minute_beyond, 10s, 5); });
  EXPECT_EQ(sys::get_option(socket.fd(), sys::SocketOption::keepalive_idle).value(), 70);
  expect_invalid([&] { socket.set_linger(-1s); });
  EXPECT_EQ(socket.linger(), std::nullopt);
  socket.set_linger(minute_beyond);
  EXPECT_GT(socket.linger(), 1h);
}

TEST(TcpSocket, AnOptionThatItsFamilyDoesNotHaveIsAnError) {
  EXPECT_THROW(TcpSocket::v4().set_only_v6(true), std::system_error);
}

TEST(TcpSocket, TextThatIsNoAddressCantBeBound) {
  TcpSocket socket = TcpSocket::v4();
  try {
    socket.bind("localhost");
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), Error::bad_ip);
  }
}

TEST_P(TcpSockets, WithReuseportSeveralListenAtOneAddress) {
  const EnterGuard here = rt.enter();
  TcpSocket first = TcpSocket::v4();
  first.set_reuseport(true);
  first.bind("127.0.0.1:0");
  TcpSocket second = TcpSocket::v4();
  second.set_reuseport(true);
  second.bind(first.local_addr());
  const TcpListener one = std::move(first).listen();
  const TcpListener other = std::move(second).listen();
  EXPECT_EQ(one.local_addr(), other.local_addr());
}

TEST_P(TcpSockets, OneThatIsBoundConnectsFromThere) {
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    TcpSocket socket = TcpSocket::v4();
    socket.bind("127.0.0.1:0");
    const SocketAddr from = socket.local_addr();
    auto client = co_await std::move(socket).connect(listener.local_addr());
    auto accepted = co_await listener.accept();
    EXPECT_EQ(client.local_addr(), from);
    EXPECT_EQ(accepted.peer, from);
  });
}

TEST_P(TcpSockets, OnlyV6LeavesTheIpv4PortToOthers) {
  const EnterGuard here = rt.enter();
  bool both_bound = false;
  for (int tries = 0; tries < 20 && !both_bound; ++tries) {  // somebody may have the IPv4 port
    TcpSocket v6 = TcpSocket::v6();
    v6.set_only_v6(true);
    v6.bind("[::]:0");
    const std::uint16_t port = v6.local_addr().port();
    const TcpListener listener = std::move(v6).listen();
    both_bound = TcpSocket::v4().try_bind(SocketAddr(IpAddr::any(), port)).has_value();
  }
  EXPECT_TRUE(both_bound);
}

TEST_P(TcpSockets, ListeningOnASocketThatIsConnectedElsewhereIsAnError) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    auto bad = TcpSocket::v4();
    const auto bound = bad.try_bind(client.local_addr());
    EXPECT_TRUE(!bound && bound.error() == std::errc::address_in_use);
  });
}

}  // namespace
}  // namespace rouse::net
