#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/spawner.hpp"
#include "rouse/io/error.hpp"
#include "rouse/net/udp_socket.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"
#include "rouse/time/instant.hpp"

#include "net/poll_send.hpp"
#include "net/support.hpp"
#include "sys/socket.hpp"

namespace rouse::net {
namespace {

using namespace std::chrono_literals;

class UdpSockets : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, UdpSockets, both_kinds(), name_of);

struct UdpPair {
  UdpPair(UdpSocket one, UdpSocket other) noexcept : a(std::move(one)), b(std::move(other)) {}
  UdpSocket a;
  UdpSocket b;
};

/// Two sockets that know nothing of each other.
Async<UdpPair> two_sockets(std::string at = "127.0.0.1:0") {
  auto a = co_await UdpSocket::bind(at);
  auto b = co_await UdpSocket::bind(at);
  co_return UdpPair(std::move(a), std::move(b));
}

/// Two that are connected to each other.
Async<UdpPair> connected_sockets(std::string at = "127.0.0.1:0") {
  auto pair = co_await two_sockets(std::move(at));
  co_await pair.a.connect(pair.b.local_addr());
  co_await pair.b.connect(pair.a.local_addr());
  co_return pair;
}

TEST_P(UdpSockets, ADatagramTellsWhereItCameFromOverBothFamilies) {
  run([]() -> Async<void> {
    for (const char* at : {"127.0.0.1:0", "[::1]:0"}) {
      auto [a, b] = co_await two_sockets(at);
      const std::size_t sent = co_await a.send_to("ping", b.local_addr());
      EXPECT_EQ(sent, 4U);
      std::array<char, 16> buf{};
      const auto [size, from] = co_await b.recv_from(buf);
      EXPECT_EQ(text_of(buf, size), "ping");
      EXPECT_EQ(from, a.local_addr());
      co_await b.send_to("pong", from.to_string());
      const Received answer = co_await a.recv_from(buf);
      EXPECT_EQ(text_of(buf, answer.size), "pong");
      EXPECT_EQ(answer.from, b.local_addr());
      EXPECT_FALSE(answer.truncated());
    }
  });
}

TEST_P(UdpSockets, ConnectedOnesSendAndReceiveWithoutAddresses) {
  run([]() -> Async<void> {
    auto [a, b] = co_await connected_sockets();
    EXPECT_EQ(a.peer_addr(), b.local_addr());
    co_await a.send("one");
    std::array<char, 16> buf{};
    const std::size_t size = co_await b.recv(buf);
    EXPECT_EQ(text_of(buf, size), "one");
  });
}

TEST_P(UdpSockets, AConnectedOneReceivesFromItsPeerOnly) {
  run([]() -> Async<void> {
    auto [a, b] = co_await connected_sockets();
    auto stranger = co_await UdpSocket::bind("127.0.0.1:0");
    co_await stranger.send_to("stranger", b.local_addr());
    co_await a.send("friend");
    std::array<char, 16> buf{};
    const std::size_t size = co_await b.recv(buf);
    EXPECT_EQ(text_of(buf, size), "friend");
  });
}

TEST_P(UdpSockets, TheyConnectToANameAndSendToOne) {
  run([]() -> Async<void> {
    auto [a, b] = co_await two_sockets();
    const std::string name = "localhost:" + std::to_string(b.local_addr().port());
    co_await a.send_to("by name", name);
    std::array<char, 16> buf{};
    const auto [size, from] = co_await b.recv_from(buf);
    EXPECT_EQ(text_of(buf, size), "by name");
    // Where localhost has an IPv6 address too, this IPv4 socket passes it over.
    co_await a.connect(name);
    EXPECT_EQ(a.peer_addr(), b.local_addr());
  });
}

TEST_P(UdpSockets, WithoutAPeerSendAndPeerAddrAreErrors) {
  run([]() -> Async<void> {
    auto socket = co_await UdpSocket::bind("127.0.0.1:0");
    const auto sent = co_await socket.send("x").result();
    EXPECT_TRUE(!sent && sent.error() == std::errc::destination_address_required);
    try {
      (void)socket.peer_addr();
      ADD_FAILURE();
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::not_connected);
    }
  });
}

TEST_P(UdpSockets, ADatagramOfNoBytesIsADatagram) {
  run([]() -> Async<void> {
    auto [a, b] = co_await connected_sockets();
    const std::size_t sent = co_await a.send("");
    EXPECT_EQ(sent, 0U);
    co_await a.send("next");
    std::array<char, 16> buf{};
    const auto [size, from] = co_await b.recv_from(buf);
    EXPECT_EQ(size, 0U);
    EXPECT_EQ(from, a.local_addr());
    const std::size_t next = co_await b.recv(buf);
    EXPECT_EQ(text_of(buf, next), "next");
  });
}

TEST_P(UdpSockets, WhatDoesNotFitIsCutOffAndThatIsTold) {
  run([]() -> Async<void> {
    auto [a, b] = co_await connected_sockets();
    co_await a.send("0123456789");
    co_await a.send("abcd");
    std::array<char, 4> buf{};
    const Received cut = co_await b.recv_from(buf);
    EXPECT_EQ(cut.size, 4U);
    EXPECT_EQ(cut.full_size(), 10U);
    EXPECT_TRUE(cut.truncated());
    EXPECT_EQ(text_of(buf, 4), "0123");
    const Received whole = co_await b.recv_from(buf);
    EXPECT_EQ(text_of(buf, whole.size), "abcd");
    EXPECT_FALSE(whole.truncated());
  });
}

TEST_P(UdpSockets, PeekLeavesTheDatagramThere) {
  run([]() -> Async<void> {
    auto [a, b] = co_await connected_sockets();
    co_await a.send("abcdef");
    std::array<char, 3> little{};
    const Received peeked = co_await b.peek_from(little);
    EXPECT_EQ(text_of(little, peeked.size), "abc");
    EXPECT_EQ(peeked.full_size(), 6U);
    const auto again = b.try_peek_from(little);
    EXPECT_TRUE(again && again->full_size() == 6);
    std::array<char, 16> buf{};
    const std::size_t size = co_await b.recv(buf);
    EXPECT_EQ(text_of(buf, size), "abcdef");
  });
}

TEST_P(UdpSockets, ADatagramThatIsTooLongIsRefusedAndTheSocketGoesOn) {
  run([]() -> Async<void> {
    auto [a, b] = co_await connected_sockets();
    const std::string big(70'000, 'x');
    const auto sent = co_await a.send(big).result();
    EXPECT_TRUE(!sent && sent.error() == std::errc::message_size);
    co_await a.send("small");
    std::array<char, 16> buf{};
    const std::size_t size = co_await b.recv(buf);
    EXPECT_EQ(text_of(buf, size), "small");
  });
}

TEST_P(UdpSockets, APeerThatIsNotThereIsAnErrorOfOneCallAndTheSocketGoesOn) {
  run([]() -> Async<void> {
    auto socket = co_await UdpSocket::bind("127.0.0.1:0");
    std::optional<UdpSocket> gone(co_await UdpSocket::bind(own_loopback()));
    const SocketAddr there = gone->local_addr();
    gone.reset();
    co_await socket.connect(there);
    std::array<char, 16> buf{};
    for (int i = 0; i < 2; ++i) {
      co_await socket.send("anybody?");
      const auto received = co_await socket.recv(buf).result();
      EXPECT_TRUE(!received && received.error() == std::errc::connection_refused);
    }
    auto back = co_await UdpSocket::bind(there);
    co_await socket.send("hello");
    const auto [size, from] = co_await back.recv_from(buf);
    EXPECT_EQ(text_of(buf, size), "hello");
    co_await back.send_to("welcome", from);
    const std::size_t answer = co_await socket.recv(buf);
    EXPECT_EQ(text_of(buf, answer), "welcome");
  });
}

TEST_P(UdpSockets, TriesWithoutDataWouldBlock) {
  run([]() -> Async<void> {
    auto [a, b] = co_await connected_sockets();
    std::array<char, 16> buf{};
    const auto nothing = b.try_recv(buf);
    EXPECT_TRUE(!nothing && nothing.error() == std::errc::operation_would_block);
    const auto nobody = b.try_recv_from(buf);
    EXPECT_TRUE(!nobody && nobody.error() == std::errc::operation_would_block);
    const auto sent = a.try_send("now");
    EXPECT_TRUE(sent && *sent == 3);
    const auto sent_to = a.try_send_to("then", b.local_addr());
    EXPECT_TRUE(sent_to && *sent_to == 4);
    co_await b.readable();
    const auto first = b.try_recv(buf);
    EXPECT_TRUE(first && text_of(buf, *first) == "now");
    const auto second = b.try_recv_from(buf);
    EXPECT_TRUE(second && text_of(buf, second->size) == "then" && second->from == a.local_addr());
    co_await a.writable();
  });
}

Async<std::vector<std::string>> receive_until_empty(UdpSocket& socket) {
  std::vector<std::string> all;
  std::array<char, 16> buf{};
  for (;;) {
    const std::size_t size = co_await socket.recv(buf);
    if (size == 0) co_return all;
    all.emplace_back(buf.data(), size);
  }
}

TEST_P(UdpSockets, SeveralTasksReceiveFromOneSocketAndEachDatagramGoesToOne) {
  constexpr int tasks = 4;
  constexpr int count = 100;
  UdpPair pair = run([] { return connected_sockets(); });
  std::vector<JoinHandle<std::vector<std::string>>> receivers;
  for (int i = 0; i < tasks; ++i) {
    receivers.push_back(rt.spawn(borrowed(receive_until_empty(pair.b))));
  }
  run([&]() -> Async<void> {
    for (int i = 0; i < count; ++i) {
      const std::string text = std::to_string(i);
      co_await pair.a.send(text);
    }
    for (int i = 0; i < tasks; ++i) co_await pair.a.send("");
  });
  std::multiset<std::string> received;
  for (auto& receiver : receivers) {
    const auto some = rt.block_on(receiver);
    received.insert(some.begin(), some.end());
  }
  EXPECT_EQ(received.size(), std::size_t{count});
  for (int i = 0; i < count; ++i) EXPECT_EQ(received.count(std::to_string(i)), 1U) << i;
}

TEST_P(UdpSockets, ARecvDroppedAtAnyPollLosesNoDatagram) {
  UdpPair pair = run([] { return connected_sockets(); });
  std::array<char, 8> buf{};
  const auto send = [&](const char* text) {
    ASSERT_TRUE(pair.a.try_send(text));
    rt.block_on(pair.b.readable());
  };
  const auto report = testing::drop_at_each_poll([&] { return pair.b.recv_from(buf); },
                                                 [&](std::size_t) { send("b"); },
                                                 [&](std::size_t k) {
                                                   if (k == 2) {
                                                     EXPECT_EQ(buf[0], 'b');
                                                     return;
                                                   }
                                                   send("a");
                                                   EXPECT_EQ(rt.block_on(pair.b.recv(buf)), 1U);
                                                   EXPECT_EQ(buf[0], 'a');
                                                 });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST_P(UdpSockets, OptionsAreAsTheyWereSet) {
  run([]() -> Async<void> {
    for (const char* at : {"127.0.0.1:0", "[::1]:0"}) {
      auto socket = co_await UdpSocket::bind(at);
      for (const bool on : {true, false}) {
        socket.set_broadcast(on);
        EXPECT_EQ(socket.broadcast(), on) << at;
        socket.set_multicast_loop(on);
        EXPECT_EQ(socket.multicast_loop(), on) << at;
      }
      socket.set_ttl(9);
      EXPECT_EQ(socket.ttl(), 9U) << at;
      EXPECT_EQ(socket.multicast_ttl(), 1U) << at;
      socket.set_multicast_ttl(4);
      EXPECT_EQ(socket.multicast_ttl(), 4U) << at;
      socket.set_send_buffer_size(30'000);
      EXPECT_GE(socket.send_buffer_size(), 30'000U);
      socket.set_recv_buffer_size(40'000);
      EXPECT_GE(socket.recv_buffer_size(), 40'000U);
      EXPECT_TRUE(socket.take_error());
    }
  });
}

TEST_P(UdpSockets, MembersOfAGroupReceiveWhatIsSentThereUntilTheyLeave) {
  run([]() -> Async<void> {
    const IpAddr group(239, 255, 77, 7);
    auto member = co_await UdpSocket::bind("0.0.0.0:0");
    member.join_multicast_v4(group, IpAddr::loopback());
    auto sender = co_await UdpSocket::bind("127.0.0.1:0");
    sender.set_multicast_interface_v4(IpAddr::loopback());
    const SocketAddr to(group, member.local_addr().port());
    co_await sender.send_to("to all", to);
    std::array<char, 16> buf{};
    const std::size_t size = co_await member.recv(buf);
    EXPECT_EQ(text_of(buf, size), "to all");
    member.leave_multicast_v4(group, IpAddr::loopback());
    co_await sender.send_to("to nobody", to);
    co_await sender.send_to("to you", SocketAddr(IpAddr::loopback(), to.port()));
    const std::size_t next = co_await member.recv(buf);
    EXPECT_EQ(text_of(buf, next), "to you");
    EXPECT_THROW(member.leave_multicast_v4(group, IpAddr::loopback()), std::system_error);
  });
}

TEST_P(UdpSockets, AnIpv6GroupIsJoinedByTheNumberOfAnInterface) {
  run([]() -> Async<void> {
    const IpAddr group = IpAddr::parse("ff11::77:7").value();  // of this interface only
    constexpr std::uint32_t loopback = 1;
    auto member = co_await UdpSocket::bind("[::]:0");
    member.set_multicast_interface_v6(loopback);
    member.join_multicast_v6(group, loopback);
    EXPECT_THROW(member.join_multicast_v6(group, loopback), std::system_error);  // it is a member
    member.leave_multicast_v6(group, loopback);
    EXPECT_THROW(member.leave_multicast_v6(group, loopback), std::system_error);
  });
}

TEST_P(UdpSockets, AnAddressIsSharedOnlyIfAllAskForIt) {
  run([]() -> Async<void> {
    auto shared = co_await UdpSocket::builder().reuseport(true).bind("127.0.0.1:0");
    auto too = co_await UdpSocket::builder().reuseport(true).bind(shared.local_addr());
    EXPECT_EQ(too.local_addr(), shared.local_addr());
    const auto alone = co_await UdpSocket::bind(shared.local_addr()).result();
    EXPECT_TRUE(!alone && alone.error() == std::errc::address_in_use);
    auto reused = co_await UdpSocket::builder().reuseaddr(true).bind("127.0.0.1:0");
    auto again = co_await UdpSocket::builder().reuseaddr(true).bind(reused.local_addr());
    EXPECT_EQ(again.local_addr(), reused.local_addr());
  });
}

TEST_P(UdpSockets, OnlyV6LeavesTheIpv4PortToOthers) {
  run([]() -> Async<void> {
    bool both_bound = false;
    for (int tries = 0; tries < 20 && !both_bound; ++tries) {  // somebody may have the IPv4 port
      auto v6 = co_await UdpSocket::builder().only_v6(true).bind("[::]:0");
      const SocketAddr same_port(IpAddr::any(), v6.local_addr().port());
      const auto v4 = co_await UdpSocket::bind(same_port).result();
      both_bound = v4.has_value();
    }
    EXPECT_TRUE(both_bound);
  });
}

TEST_P(UdpSockets, OneThatOutlivesItsRuntimeSaysSo) {
  const std::size_t before = open_descriptors();
  {
    std::optional<Runtime> inner(make_runtime(GetParam()));
    UdpSocket socket = inner->block_on(UdpSocket::bind("127.0.0.1:0"));
    std::array<char, 4> buf{};
    EXPECT_FALSE(socket.try_recv(buf));
    inner.reset();
    testing::PollHarness recv(socket.recv_from(buf).result());
    auto polled = recv.poll();
    ASSERT_TRUE(polled.is_ready());
    ASSERT_FALSE(polled.value());
    EXPECT_EQ(polled.value().error(), io::Error::runtime_ended);
  }
  EXPECT_EQ(open_descriptors(), before);
}

/// Sends through `poll_send` with a function instead of the system.
template <class Fn>
class SendWith : public ResultFuture<SendWith<Fn>, std::size_t> {
 public:
  SendWith(const io::AsyncFd& io, internal::RoomIs room, Fn fn) : io_(io), room_(room), fn_(fn) {}
  Poll<Result<std::size_t>> poll_result(Context& cx) {
    return poll_send(io_, cx, wait_, room_, fn_);
  }

 private:
  const io::AsyncFd& io_;
  internal::RoomIs room_;
  Fn fn_;
  internal::SendWait wait_;
};

void expect_pauses(internal::RoomIs room, std::errc refusal) {
  Runtime rt = Runtime::builder().current_thread().start_paused().build();
  rt.block_on([&]() -> Async<void> {
    const io::AsyncFd io(sys::open_socket(AF_INET, sys::SocketKind::datagram).value());
    int calls = 0;
    auto refuse_ten_times = [&]() -> Result<std::size_t> {
      if (++calls <= 10) return refusal;
      return std::size_t{5};
    };
    const time::Instant start = time::now();
    const std::size_t sent = co_await SendWith(io, room, refuse_ten_times);
    EXPECT_EQ(sent, 5U);
    EXPECT_EQ(calls, 11);
    // 1, 2, 4, 8, 16, 32, then 50 each.
    EXPECT_GE(time::now() - start, 263ms);
    EXPECT_LE(time::now() - start, 300ms);
  }());
}

TEST(PollSend, WhileACardHasNoBuffersItTriesAgainAfterGrowingPauses) {
  expect_pauses(internal::RoomIs::told, std::errc::no_buffer_space);
  expect_pauses(internal::RoomIs::not_always_told, std::errc::no_buffer_space);
}

TEST(PollSend, WhereNothingTellsOfRoomItTriesAgainAfterGrowingPauses) {
  expect_pauses(internal::RoomIs::not_always_told, std::errc::operation_would_block);
}

}  // namespace
}  // namespace rouse::net
