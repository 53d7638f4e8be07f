// An address of another family than the socket's is an error, never more, for each kind of socket.
#include <array>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_socket.hpp"
#include "rouse/net/udp_socket.hpp"
#include "rouse/net/unix_datagram.hpp"
#include "rouse/net/unix_listener.hpp"

#include "net/support.hpp"

namespace rouse::net {
namespace {

class AddressFamilies : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, AddressFamilies, both_kinds(), name_of);

template <class Op>
Async<void> expect_wrong_family(std::string what, Op op) {
  const auto result = co_await std::move(op).result();
  EXPECT_FALSE(result) << what;
  if (!result) {
    EXPECT_EQ(result.error(), std::errc::address_family_not_supported) << what;
  }
}

TEST_P(AddressFamilies, UnixAddressesAreNotForIpSockets) {
  run([]() -> Async<void> {
    auto udp = co_await UdpSocket::bind("127.0.0.1:0");
    auto udp6 = co_await UdpSocket::bind("[::1]:0");
    for (const std::string text : {"unix:/tmp/x", "unix:@x", "unix:"}) {
      const SocketAddr address = SocketAddr::parse(text).value();
      co_await expect_wrong_family("TcpListener::bind " + text, TcpListener::bind(text));
      co_await expect_wrong_family("TcpListener::bind " + text, TcpListener::bind(address));
      co_await expect_wrong_family("TcpStream::connect " + text, TcpStream::connect(text));
      co_await expect_wrong_family("TcpSocket::connect " + text, TcpSocket::v4().connect(address));
      co_await expect_wrong_family("UdpSocket::bind " + text, UdpSocket::bind(text));
      co_await expect_wrong_family("UdpSocket::connect " + text, udp.connect(text));
      co_await expect_wrong_family("UdpSocket::send_to " + text, udp.send_to("x", text));
      co_await expect_wrong_family("UdpSocket::send_to " + text, udp.send_to("x", address));
      co_await expect_wrong_family("v6 connect " + text, udp6.connect(text));
      co_await expect_wrong_family("v6 send_to " + text, udp6.send_to("x", address));
      const auto bound = TcpSocket::v6().try_bind(address);
      EXPECT_TRUE(!bound && bound.error() == std::errc::address_family_not_supported) << text;
    }
  });
}

TEST_P(AddressFamilies, IpAddressesAreNotForUnixSockets) {
  run([]() -> Async<void> {
    auto datagram = UnixDatagram::unbound();
    for (const std::string text : {"127.0.0.1:80", "[::1]:80"}) {
      const SocketAddr address = SocketAddr::parse(text).value();
      co_await expect_wrong_family("UnixListener::bind " + text, UnixListener::bind(text));
      co_await expect_wrong_family("UnixListener::bind " + text, UnixListener::bind(address));
      co_await expect_wrong_family("UnixStream::connect " + text, UnixStream::connect(text));
      co_await expect_wrong_family("UnixStream::connect " + text, UnixStream::connect(address));
      co_await expect_wrong_family("UnixDatagram::bind " + text, UnixDatagram::bind(text));
      co_await expect_wrong_family("UnixDatagram::connect " + text, datagram.connect(address));
      co_await expect_wrong_family("UnixDatagram::send_to " + text, datagram.send_to("x", text));
      co_await expect_wrong_family("UnixDatagram::send_to " + text, datagram.send_to("x", address));
    }
    const Endpoint host_and_port("localhost", 80);
    co_await expect_wrong_family("a host", UnixStream::connect(host_and_port));
  });
}

TEST_P(AddressFamilies, OneIpFamilyIsNotTheOther) {
  run([]() -> Async<void> {
    const SocketAddr v4(IpAddr::loopback(), 9);
    const SocketAddr v6(IpAddr::loopback_v6(), 9);
    auto udp = co_await UdpSocket::bind("127.0.0.1:0");
    co_await expect_wrong_family("UDP v4 to v6", udp.connect(v6));
    co_await expect_wrong_family("UDP v4 send_to v6", udp.send_to("x", v6));
    co_await expect_wrong_family("UDP v4 send_to v6", udp.send_to("x", v6.to_string()));
    co_await expect_wrong_family("TCP v4 to v6", TcpSocket::v4().connect(v6));
    co_await expect_wrong_family("TCP v6 to v4", TcpSocket::v6().connect(v4));
    const auto bound_v4 = TcpSocket::v4().try_bind(v6);
    EXPECT_TRUE(!bound_v4 && bound_v4.error() == std::errc::address_family_not_supported);
    const auto bound_v6 = TcpSocket::v6().try_bind(v4);
    EXPECT_TRUE(!bound_v6 && bound_v6.error() == std::errc::address_family_not_supported);
  });
}

TEST_P(AddressFamilies, GroupsAreOfTheFamilyThatTheirFunctionSays) {
  UdpSocket udp = rt.block_on(UdpSocket::bind("127.0.0.1:0"));
  const IpAddr v4(239, 1, 2, 3);
  const IpAddr v6 = IpAddr::parse("ff02::1").value();
  const auto code_of = [](auto call) {
    try {
      call();
    } catch (const std::system_error& error) {
      return error.code();
    }
    return std::error_code();
  };
  EXPECT_EQ(code_of([&] { udp.join_multicast_v4(v6); }), std::errc::address_family_not_supported);
  EXPECT_EQ(code_of([&] { udp.join_multicast_v4(v4, v6); }),
            std::errc::address_family_not_supported);
  EXPECT_EQ(code_of([&] { udp.join_multicast_v6(v4); }), std::errc::address_family_not_supported);
  EXPECT_EQ(code_of([&] { udp.set_multicast_interface_v4(v6); }),
            std::errc::address_family_not_supported);
  EXPECT_TRUE(code_of([&] { udp.join_multicast_v6(v6); }));
}

}  // namespace
}  // namespace rouse::net
