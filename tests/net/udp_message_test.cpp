#include "rouse/net/udp_message.hpp"

#include <array>
#include <net/if.h>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/testing/poll_harness.hpp"

#include "net/support.hpp"

namespace rouse::net {
namespace {

class UdpMessages : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, UdpMessages, both_kinds(), name_of);

TEST_P(UdpMessages, TellWhereTheyWereSentToAndAnswersLeaveFromThere) {
  run([]() -> Async<void> {
    auto server = co_await UdpSocket::bind("0.0.0.0:0");
    auto client = co_await UdpSocket::bind("127.0.0.1:0");
    set_packet_info(server, true);
    // Any address of 127.0.0.0/8 is this machine's.
    const SocketAddr second(IpAddr(127, 0, 0, 2), server.local_addr().port());
    co_await client.send_to("hello", second);
    std::array<char, 16> buf{};
    const RecvMeta meta = co_await recv_message(server, buf);
    EXPECT_EQ(text_of(buf, meta.size), "hello");
    EXPECT_EQ(meta.full_size, 5U);
    EXPECT_EQ(meta.segment_size, 5U);
    EXPECT_EQ(meta.from, client.local_addr());
    EXPECT_EQ(meta.to, second.ip());
    EXPECT_EQ(meta.interface, ::if_nametoindex("lo"));

    Transmit answer("back");
    answer.to = meta.from;
    answer.from = meta.to;
    const std::size_t sent = co_await send_message(server, answer);
    EXPECT_EQ(sent, 4U);
    const Received received = co_await client.recv_from(buf);
    EXPECT_EQ(received.from, second);
  });
}

TEST_P(UdpMessages, TellItOfIpv6Too) {
  run([]() -> Async<void> {
    auto server = co_await UdpSocket::bind("[::]:0");
    auto client = co_await UdpSocket::bind("[::1]:0");
    set_packet_info(server, true);
    co_await client.send_to("x", SocketAddr(IpAddr::loopback_v6(), server.local_addr().port()));
    std::array<char, 16> buf{};
    const RecvMeta meta = co_await recv_message(server, buf);
    EXPECT_EQ(meta.to, IpAddr::loopback_v6());
    EXPECT_EQ(meta.interface, ::if_nametoindex("lo"));
    Transmit answer("y");
    answer.to = meta.from;
    answer.from = meta.to;
    answer.interface = meta.interface;
    co_await send_message(server, answer);
    const std::size_t size = co_await client.recv(buf);
    EXPECT_EQ(size, 1U);
  });
}

TEST_P(UdpMessages, WithoutPacketInfoTheAddressIsNotKnown) {
  run([]() -> Async<void> {
    auto one = co_await UdpSocket::bind("127.0.0.1:0");
    auto other = co_await UdpSocket::bind("127.0.0.1:0");
    co_await one.connect(other.local_addr());
    co_await send_message(one, Transmit("four"));
    std::array<char, 2> buf{};
    const RecvMeta meta = co_await recv_message(other, buf);
    EXPECT_FALSE(meta.to);
    EXPECT_EQ(meta.interface, 0U);
    EXPECT_EQ(meta.size, 2U);
    EXPECT_EQ(meta.full_size, 4U);
  });
}

TEST_P(UdpMessages, OneCallSendsManyDatagramsAndOneReceivesThem) {
  run([]() -> Async<void> {
    auto one = co_await UdpSocket::bind("127.0.0.1:0");
    auto other = co_await UdpSocket::bind("127.0.0.1:0");
    if (max_gso_segments(one) == 1) co_return;  // a kernel without GSO
    const std::string all = std::string(100, 'a') + std::string(100, 'b') + std::string(50, 'c');
    Transmit many(all);
    many.to = other.local_addr();
    many.segment_size = 100;
    const std::size_t sent = co_await send_message(one, many);
    EXPECT_EQ(sent, 250U);
    std::array<char, 1000> buf{};
    for (const std::size_t expected : {100U, 100U, 50U}) {
      const std::size_t size = co_await other.recv(buf);
      EXPECT_EQ(size, expected);
    }
    set_gro(other, true);
    co_await send_message(one, many);
    std::string got;
    while (got.size() < all.size()) {
      const RecvMeta meta = co_await recv_message(other, buf);
      EXPECT_LE(meta.segment_size, 100U);
      got.append(buf.data(), meta.size);
    }
    EXPECT_EQ(got, all);
  });
}

TEST_P(UdpMessages, AWrongAddressIsAnError) {
  run([]() -> Async<void> {
    auto socket = co_await UdpSocket::bind("127.0.0.1:0");
    Transmit nowhere("x");
    const auto unconnected = co_await send_message(socket, nowhere).result();
    EXPECT_TRUE(!unconnected && unconnected.error() == std::errc::destination_address_required);
    nowhere.to = SocketAddr(IpAddr::loopback_v6(), 9);
    const auto other_family = co_await send_message(socket, nowhere).result();
    EXPECT_TRUE(!other_family && other_family.error() == std::errc::address_family_not_supported);
    nowhere.to = SocketAddr::unix_unnamed();
    const auto no_ip = co_await send_message(socket, nowhere).result();
    EXPECT_TRUE(!no_ip && no_ip.error() == std::errc::address_family_not_supported);
    nowhere.to = socket.local_addr();
    nowhere.from = IpAddr::loopback_v6();
    const auto odd_source = co_await send_message(socket, nowhere).result();
    EXPECT_TRUE(!odd_source && odd_source.error() == std::errc::address_family_not_supported);
    nowhere.from = IpAddr(192, 0, 2, 1);  // nobody's
    const auto not_ours = co_await send_message(socket, nowhere).result();
    EXPECT_FALSE(not_ours);
  });
}

TEST_P(UdpMessages, AReceiveThatIsDroppedLosesNothing) {
  run([]() -> Async<void> {
    auto socket = co_await UdpSocket::bind("127.0.0.1:0");
    std::array<char, 4> buf{};
    {
      testing::PollHarness dropped(recv_message(socket, buf));
      EXPECT_TRUE(dropped.poll().is_pending());
    }
    co_await socket.send_to("x", socket.local_addr());
    const RecvMeta meta = co_await recv_message(socket, buf);
    EXPECT_EQ(meta.size, 1U);
  });
}

}  // namespace
}  // namespace rouse::net
