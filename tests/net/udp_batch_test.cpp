#include <array>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/net/datagram_batch.hpp"
#include "rouse/net/udp_socket.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "net/support.hpp"

namespace rouse::net {
namespace {

class UdpBatches : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, UdpBatches, both_kinds(), name_of);

std::string text(const DatagramBatch::Item& item) {
  return std::string(text_of(item.data(), item.data().size()));
}

UdpSocket bound(Runtime& rt) { return rt.block_on(UdpSocket::bind("127.0.0.1:0")); }

TEST(DatagramBatch, ItHoldsWhatWasPushedAndNoMore) {
  const SocketAddr to(IpAddr::loopback(), 9);
  DatagramBatch batch(2, 4);
  EXPECT_EQ(batch.capacity(), 2U);
  EXPECT_EQ(batch.datagram_size(), 4U);
  EXPECT_TRUE(batch.empty());
  EXPECT_FALSE(batch.push("too long", to));
  EXPECT_TRUE(batch.push("four", to));
  EXPECT_TRUE(batch.push(""));
  EXPECT_TRUE(batch.full());
  EXPECT_FALSE(batch.push("x", to));
  EXPECT_EQ(text(batch[0]), "four");
  EXPECT_EQ(batch[0].peer(), to);
  EXPECT_EQ(text(batch[1]), "");
  EXPECT_TRUE(batch[1].peer().is_unnamed());
  EXPECT_EQ(batch.sent(), 0U);
  batch.clear();
  EXPECT_TRUE(batch.empty());
}

TEST(DatagramBatch, AMovedOneTakesItsContentAlong) {
  DatagramBatch batch(2, 4);
  EXPECT_TRUE(batch.push("one"));
  DatagramBatch other(std::move(batch));
  EXPECT_EQ(text(other[0]), "one");
  DatagramBatch third(1, 1);
  third = std::move(other);
  EXPECT_EQ(text(third[0]), "one");
  EXPECT_TRUE(third.push("two"));
}

TEST(DatagramBatch, OneThatIsLargerThanTheMemoryCanBeIsAnError) {
  constexpr std::size_t half = std::numeric_limits<std::size_t>::max() / 2 + 1;
  EXPECT_THROW(DatagramBatch(2, half), std::length_error);
  EXPECT_THROW(DatagramBatch(half, 2), std::length_error);
}

TEST(DatagramBatchDeathTest, OneWithoutRoomAndAnIndexPastItsEndAbort) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(DatagramBatch(0, 10), "at least 1");
  EXPECT_DEATH((void)DatagramBatch(1, 10)[0], "not below its size");
}

TEST_P(UdpBatches, AllThatIsPushedIsSentAndReceivedInOrder) {
  run([]() -> Async<void> {
    auto a = co_await UdpSocket::bind("127.0.0.1:0");
    auto b = co_await UdpSocket::bind("127.0.0.1:0");
    DatagramBatch out(100, 8);
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(out.push(std::to_string(i), b.local_addr()));
    }
    const std::size_t sent = co_await a.send_many(out);
    EXPECT_EQ(sent, 100U);
    EXPECT_EQ(out.sent(), 100U);
    DatagramBatch in(32, 8);
    int next = 0;
    while (next < 100) {
      const std::size_t count = co_await b.recv_many(in);
      EXPECT_GE(count, 1U);
      EXPECT_EQ(count, in.size());
      for (const auto& item : in) {
        EXPECT_EQ(text(item), std::to_string(next++));
        EXPECT_EQ(item.peer(), a.local_addr());
        EXPECT_FALSE(item.truncated());
      }
    }
    const auto nothing = b.try_recv_many(in);
    EXPECT_TRUE(!nothing && nothing.error() == std::errc::operation_would_block);
  });
}

TEST_P(UdpBatches, EachDatagramTellsWhetherItWasCutOffAndEmptyOnesCount) {
  run([]() -> Async<void> {
    auto a = co_await UdpSocket::bind("[::1]:0");
    auto b = co_await UdpSocket::bind("[::1]:0");
    co_await a.connect(b.local_addr());
    for (const char* data : {"abc", "", "abcdefgh"}) co_await a.send(data);
    DatagramBatch in(8, 4);
    std::vector<std::size_t> full_sizes;
    std::vector<bool> truncated;
    while (full_sizes.size() < 3) {
      co_await b.recv_many(in);
      for (const auto& item : in) {
        full_sizes.push_back(item.full_size());
        truncated.push_back(item.truncated());
      }
    }
    EXPECT_EQ(full_sizes, (std::vector<std::size_t>{3, 0, 8}));
    EXPECT_EQ(truncated, (std::vector<bool>{false, false, true}));
  });
}

TEST_P(UdpBatches, AConnectedSocketSendsABatchWithoutAddresses) {
  run([]() -> Async<void> {
    auto a = co_await UdpSocket::bind("127.0.0.1:0");
    auto b = co_await UdpSocket::bind("127.0.0.1:0");
    co_await a.connect(b.local_addr());
    DatagramBatch out(2, 8);
    EXPECT_TRUE(out.push("one") && out.push("two"));
    co_await a.send_many(out);
    std::array<char, 8> buf{};
    for (const char* expected : {"one", "two"}) {
      const std::size_t size = co_await b.recv(buf);
      EXPECT_EQ(text_of(buf, size), expected);
    }
  });
}

TEST_P(UdpBatches, AReceiveThatBringsNothingDropsWhatWasPushed) {
  UdpSocket a = bound(rt);
  UdpSocket b = bound(rt);
  DatagramBatch batch(4, 16);
  ASSERT_TRUE(batch.push("stale", b.local_addr()));
  const auto nothing = a.try_recv_many(batch);
  ASSERT_TRUE(!nothing && nothing.error() == std::errc::operation_would_block);
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(rt.block_on(a.send_many(batch)), 0U);
  ASSERT_TRUE(batch.push("stale", b.local_addr()));
  {
    testing::PollHarness waiting(a.recv_many(batch));
    ASSERT_TRUE(waiting.poll().is_pending());
  }
  ASSERT_TRUE(batch.push("fresh", b.local_addr()));
  EXPECT_EQ(rt.block_on(a.send_many(batch)), 1U);
  EXPECT_EQ(rt.block_on(b.recv_many(batch)), 1U);
  EXPECT_EQ(text(batch[0]), "fresh");
}

TEST_P(UdpBatches, WhatWasReceivedIsNotSentAgain) {
  UdpSocket a = bound(rt);
  UdpSocket b = bound(rt);
  DatagramBatch batch(4, 16);
  ASSERT_TRUE(batch.push("ping", b.local_addr()));
  rt.block_on(a.send_many(batch));
  ASSERT_EQ(rt.block_on(b.recv_many(batch)), 1U);
  EXPECT_EQ(batch.sent(), 1U);
  ASSERT_TRUE(batch.push("pong", a.local_addr()));
  rt.block_on(b.send_many(batch));
  ASSERT_EQ(rt.block_on(a.recv_many(batch)), 1U);
  EXPECT_EQ(text(batch[0]), "pong");
  EXPECT_EQ(a.try_recv_many(batch).error(), std::errc::operation_would_block);
}

TEST_P(UdpBatches, AnEmptyBatchIsSentAtOnce) {
  UdpSocket socket = bound(rt);
  DatagramBatch none(4, 4);
  testing::PollHarness send(socket.send_many(none));
  auto polled = send.poll();
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value(), 0U);
}

TEST_P(UdpBatches, AnErrorIsThatOfTheNextOneAndSendingGoesOnAfterIt) {
  run([]() -> Async<void> {
    auto a = co_await UdpSocket::bind("127.0.0.1:0");
    auto b = co_await UdpSocket::bind("127.0.0.1:0");
    const SocketAddr to = b.local_addr();
    DatagramBatch out(4, 8);
    EXPECT_TRUE(out.push("one", to));
    EXPECT_TRUE(out.push("bad", SocketAddr(IpAddr::loopback_v6(), 9)));
    EXPECT_TRUE(out.push("bad", SocketAddr::unix_path("/x").value()));
    EXPECT_TRUE(out.push("two", to));
    for (std::size_t expected = 1; expected < 3; ++expected) {
      const auto sent = co_await a.send_many(out).result();
      EXPECT_TRUE(!sent && sent.error() == std::errc::address_family_not_supported);
      EXPECT_EQ(out.sent(), expected);
      out.skip();
    }
    const std::size_t sent = co_await a.send_many(out);
    EXPECT_EQ(sent, 4U);
    std::array<char, 8> buf{};
    for (const char* expected : {"one", "two"}) {
      const std::size_t size = co_await b.recv(buf);
      EXPECT_EQ(text_of(buf, size), expected);
    }
  });
}

TEST_P(UdpBatches, ARecvManyDroppedAtAnyPollLosesNothing) {
  UdpSocket a = bound(rt);
  UdpSocket b = bound(rt);
  DatagramBatch in(4, 4);
  const auto send = [&](const char* data) {
    ASSERT_TRUE(a.try_send_to(data, b.local_addr()));
    rt.block_on(b.readable());
  };
  const auto report =
      testing::drop_at_each_poll([&] { return b.recv_many(in); }, [&](std::size_t) { send("b"); },
                                 [&](std::size_t k) {
                                   if (k == 2) {
                                     EXPECT_EQ(text(in[0]), "b");
                                     return;
                                   }
                                   send("a");
                                   EXPECT_EQ(rt.block_on(b.recv_many(in)), 1U);
                                   EXPECT_EQ(text(in[0]), "a");
                                 });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

}  // namespace
}  // namespace rouse::net
