// Calls of UDP and Unix datagrams, and of name lookups.
#include <array>
#include <cstdint>
#include <net/if.h>
#include <string>

#include <gtest/gtest.h>

#include "rouse/net/error.hpp"
#include "rouse/net/lookup_host.hpp"
#include "rouse/net/udp_message.hpp"
#include "rouse/net/udp_socket.hpp"
#include "rouse/net/unix_datagram.hpp"

#include "faulty/harness.hpp"

namespace rouse::faulty {
namespace {

struct UdpPair {
  UdpPair(net::UdpSocket first, net::UdpSocket second) noexcept
      : one(std::move(first)), other(std::move(second)) {}
  net::UdpSocket one;
  net::UdpSocket other;
};

Async<UdpPair> udp_pair() {
  auto one = co_await net::UdpSocket::bind("127.0.0.1:0");
  auto other = co_await net::UdpSocket::bind("127.0.0.1:0");
  co_await one.connect(other.local_addr());
  co_await other.connect(one.local_addr());
  co_return UdpPair(std::move(one), std::move(other));
}

Async<void> send_and_receive() {
  auto pair = co_await udp_pair();
  EXPECT_EQ(co_await pair.one.send("hello"), 5U);
  std::array<char, 16> buf;
  EXPECT_EQ(co_await pair.other.recv(buf), 5U);
}

Async<void> send_to_and_receive_from() {
  auto one = co_await net::UdpSocket::bind("127.0.0.1:0");
  auto other = co_await net::UdpSocket::bind("127.0.0.1:0");
  EXPECT_EQ(co_await one.send_to("hello", other.local_addr()), 5U);
  std::array<char, 16> buf;
  const auto peeked = co_await other.peek_from(buf);
  EXPECT_EQ(peeked.size, 5U);
  const auto received = co_await other.recv_from(buf);
  EXPECT_EQ(received.from, one.local_addr());
}

Async<void> many_at_once() {
  auto pair = co_await udp_pair();
  net::DatagramBatch batch(4, 64);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(batch.push("hello"));
  EXPECT_EQ(co_await pair.one.send_many(batch), 4U);
  for (std::size_t received = 0; received < 4;) received += co_await pair.other.recv_many(batch);
}

Async<void> unix_datagrams() {
  auto [one, other] = net::UnixDatagram::pair();
  EXPECT_EQ(co_await one.send("hello"), 5U);
  std::array<char, 16> buf;
  EXPECT_EQ(co_await other.recv(buf), 5U);
}

Async<void> set_udp_options() {
  auto socket = co_await net::UdpSocket::builder().reuseaddr(true).reuseport(true).bind(
      net::SocketAddr::parse("127.0.0.1:0").value());
  socket.set_broadcast(true);
  socket.set_ttl(3);
  socket.set_multicast_loop(true);
  socket.set_multicast_ttl(2);
  socket.set_multicast_interface_v4(net::IpAddr::parse("127.0.0.1").value());
  const auto group = net::IpAddr::parse("239.1.2.3").value();
  const auto here = net::IpAddr::parse("127.0.0.1").value();
  socket.join_multicast_v4(group, here);
  socket.leave_multicast_v4(group, here);
}

Async<void> join_and_leave_v6() {
  auto socket = co_await net::UdpSocket::bind("[::1]:0");
  const auto group = net::IpAddr::parse("ff01::1:2").value();  // of this machine alone
  const std::uint32_t loopback = ::if_nametoindex("lo");
  socket.join_multicast_v6(group, loopback);
  socket.leave_multicast_v6(group, loopback);
}

Async<void> get_udp_options() {
  auto socket = co_await net::UdpSocket::bind("127.0.0.1:0");
  EXPECT_FALSE(socket.broadcast());
  EXPECT_GT(socket.ttl(), 0U);
  EXPECT_TRUE(socket.multicast_loop());
  EXPECT_EQ(socket.multicast_ttl(), 1U);
}

Async<void> messages() {
  auto pair = co_await udp_pair();
  net::set_packet_info(pair.other, true);
  EXPECT_EQ(co_await net::send_message(pair.one, net::Transmit("hello")), 5U);
  std::array<char, 16> buf;
  const net::RecvMeta meta = co_await net::recv_message(pair.other, buf);
  EXPECT_EQ(meta.to, pair.other.local_addr().ip());
}

Async<void> look_up() { EXPECT_FALSE((co_await net::lookup_host("localhost:80")).empty()); }

Async<void> look_up_by_interface() {
  const auto found = co_await net::lookup_host("[fe80::1%lo]:80");
  EXPECT_NE(found.front().scope_id(), 0U);
}

/// Whether this machine lets a test join a group on loopback.
bool has_multicast(Async<void> (*scenario)()) {
  return !outcome_of([&] { make_runtime(On::current_thread).block_on(scenario()); });
}

TEST(FaultyDatagram, ASocketThatCannotBeMadeIsReported) {
  Site("socket", "bind UDP", send_and_receive).try_all();
  Site("bind", "bind UDP", send_and_receive).try_all();
  Site("socketpair", "a pair of datagram sockets", unix_datagrams).try_all();
  Site("connect", "connect UDP", send_and_receive)
      .ignored({EINTR, EINPROGRESS}, "done anyway")
      .try_all();
  Site("fcntl(F_GETFL)", "bind UDP", send_and_receive).try_all();
}

TEST(FaultyDatagram, ReceivingReportsItsErrorsAndWaitsWhereItIsToldTo) {
  Site("recv", "UDP recv", send_and_receive).retried({EINTR}).waits({EAGAIN}).try_all();
  Site("recv", "Unix recv", unix_datagrams).retried({EINTR}).waits({EAGAIN}).try_all();
  Site("recvfrom", "UDP recv_from, peek_from", send_to_and_receive_from)
      .retried({EINTR})
      .waits({EAGAIN})
      .try_all();
  Site("recvmmsg", "UDP recv_many", many_at_once).retried({EINTR}).waits({EAGAIN}).try_all();
}

TEST(FaultyDatagram, SendingReportsItsErrorsAndWaitsWhereItIsToldTo) {
  Site("send", "UDP send", send_and_receive)
      .retried({EINTR})
      .waits({EAGAIN})
      .backs_off({ENOBUFS})
      .try_all();
  Site("send", "Unix send", unix_datagrams)
      .retried({EINTR})
      .waits({EAGAIN})
      .backs_off({ENOBUFS})
      .try_all();
  Site("sendto", "UDP send_to", send_to_and_receive_from)
      .retried({EINTR})
      .waits({EAGAIN})
      .backs_off({ENOBUFS})
      .try_all();
  Site("sendmmsg", "UDP send_many", many_at_once)
      .retried({EINTR})
      .waits({EAGAIN})
      .backs_off({ENOBUFS})
      .try_all();
}

TEST(FaultyDatagram, OneMessageAtATimeAllArrive) {
  Site("recvmmsg", "UDP recv_many", many_at_once).try_short();
  Site("sendmmsg", "UDP send_many", many_at_once).try_short();
}

TEST(FaultyDatagram, AnOptionThatIsRefusedIsReported) {
  Site("getsockopt", "UDP options", get_udp_options).try_all();
  Site("getsockopt(SO_DOMAIN)", "UDP options", get_udp_options).try_all();
  if (!has_multicast(set_udp_options)) GTEST_SKIP() << "no multicast on loopback here";
  Site("setsockopt", "UDP options", set_udp_options).try_all();
}

TEST(FaultyDatagram, AGroupOfIpv6ThatCannotBeJoinedOrLeftIsReported) {
  if (!has_multicast(join_and_leave_v6)) GTEST_SKIP() << "no IPv6 multicast on loopback here";
  Site("setsockopt", "an IPv6 group", join_and_leave_v6).try_all();
}

TEST(FaultyDatagram, MessagesWithPacketInfoReportWhatFails) {
  Site("recvmsg", "UDP recv_message", messages).retried({EINTR}).waits({EAGAIN}).try_all();
  Site("sendmsg", "UDP send_message", messages).retried({EINTR}).waits({EAGAIN}).try_all();
  Site("setsockopt", "UDP packet info", messages).try_all();
  Site("getsockopt(SO_DOMAIN)", "UDP packet info", messages).try_all();
}

TEST(FaultyDatagram, ALookupThatFailsIsReported) {
  Site("getaddrinfo", "look up", look_up).retried({EINTR}).try_all();
  Site("if_nametoindex", "look up with an interface", look_up_by_interface)
      .checked_by([](int, std::error_code code) { EXPECT_EQ(code, net::Error::bad_scope); },
                  "reported as a scope that is no interface")
      .try_all();
}

}  // namespace
}  // namespace rouse::faulty
