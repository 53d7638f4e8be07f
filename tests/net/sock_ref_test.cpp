#include "rouse/net/sock_ref.hpp"

#include <chrono>
#include <net/if.h>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/net/lookup_host.hpp"
#include "rouse/net/tcp_socket.hpp"
#include "rouse/net/udp_socket.hpp"
#include "rouse/net/unix_stream.hpp"

#include "net/support.hpp"

namespace rouse::net {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

class SockRefs : public ::testing::Test {
 protected:
  Runtime rt = make_runtime(On::current_thread);
};

template <class Fn>
std::error_code error_of(Fn fn) {
  try {
    fn();
  } catch (const std::system_error& error) {
    return error.code();
  }
  return {};
}

TEST_F(SockRefs, SetsAndTellsTheOptionsOfTcp) {
  rt.block_on([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    const SockRef options(client);
    options.set_quickack(false);
    EXPECT_FALSE(options.quickack());
    options.set_quickack(true);
    EXPECT_TRUE(options.quickack());
    EXPECT_EQ(options.user_timeout(), 0ms);
    options.set_user_timeout(1500ms);
    EXPECT_EQ(options.user_timeout(), 1500ms);
    EXPECT_EQ(error_of([&] { options.set_user_timeout(-1ms); }), std::errc::invalid_argument);
    options.set_user_timeout(std::chrono::milliseconds::max());
    EXPECT_GT(options.user_timeout(), 1500ms);
    options.set_tos(0x10);
    EXPECT_EQ(options.tos(), 0x10);
  }());
}

TEST_F(SockRefs, SetsTheTrafficClassOfBothFamilies) {
  for (const char* at : {"127.0.0.1:0", "[::1]:0"}) {
    auto udp = rt.block_on(UdpSocket::bind(at));
    EXPECT_EQ(SockRef(udp).tos(), 0) << at;
    SockRef(udp).set_tos(0xb8);
    EXPECT_EQ(SockRef(udp).tos(), 0xb8) << at;
  }
  const auto socket = TcpSocket::v6();
  SockRef(socket).set_tos(0x20);
  EXPECT_EQ(SockRef(socket).tos(), 0x20);
}

TEST_F(SockRefs, BindsToANetworkInterface) {
  auto one = rt.block_on(UdpSocket::bind("127.0.0.1:0"));
  auto other = rt.block_on(UdpSocket::bind("127.0.0.1:0"));
  EXPECT_EQ(SockRef(one).device(), "");
  SockRef(one).bind_device("lo");
  EXPECT_EQ(SockRef(one).device(), "lo");
  EXPECT_EQ(rt.block_on(one.send_to("x", other.local_addr())), 1U);
  EXPECT_EQ(error_of([&] { SockRef(other).bind_device("nosuchdevice"); }),
            std::errc::no_such_device);
  for (const std::string_view odd : {"a-name-of-more-than-15"sv, "lo\0o"sv}) {
    EXPECT_EQ(error_of([&] { SockRef(other).bind_device(odd); }), std::errc::invalid_argument);
  }
  if (::geteuid() == 0) {
    SockRef(one).bind_device("");
    EXPECT_EQ(SockRef(one).device(), "");
  }
}

TEST_F(SockRefs, WhatASocketDoesNotHaveIsAnError) {
  rt.block_on([]() -> Async<void> {
    auto [here, there] = UnixStream::pair();
    EXPECT_TRUE(error_of([&] { SockRef(here).set_quickack(true); }));
    EXPECT_TRUE(error_of([&] { SockRef(here).set_tos(1); }));
    EXPECT_TRUE(error_of([&] { (void)SockRef(here).user_timeout(); }));
    co_return;
  }());
}

TEST_F(SockRefs, ANamedInterfaceIsUnderstoodByLookups) {
  const unsigned lo = ::if_nametoindex("lo");
  const auto as_text = rt.block_on(lookup_host("[fe80::1%lo]:80"));
  EXPECT_EQ(as_text.at(0), SocketAddr(IpAddr::parse("fe80::1").value(), 80, lo));
  const auto as_pair = rt.block_on(lookup_host(Endpoint("fe80::1%lo", 80)));
  EXPECT_EQ(as_pair, as_text);
}

}  // namespace
}  // namespace rouse::net
