#include "rouse/net/unix_datagram.hpp"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/spawner.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "net/support.hpp"

namespace rouse::net {
namespace {

class UnixDatagrams : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, UnixDatagrams, both_kinds(), name_of);

TEST_P(UnixDatagrams, ThoseOfAPairSendToEachOther) {
  run([]() -> Async<void> {
    auto [one, other] = UnixDatagram::pair();
    co_await one.send("ping");
    std::array<char, 16> buf{};
    const auto [size, from] = co_await other.recv_from(buf);
    EXPECT_EQ(text_of(buf, size), "ping");
    EXPECT_TRUE(from.is_unnamed());
    co_await other.send("");
    const std::size_t empty = co_await one.recv(buf);
    EXPECT_EQ(empty, 0U);
  });
}

TEST_P(UnixDatagrams, ADatagramTellsThePathOrNameOfItsSender) {
  const SocketDirectory dir;
  run([&]() -> Async<void> {
    const std::string name = abstract_name();
    auto at_path = co_await UnixDatagram::bind(dir.file("socket"));
    auto at_name = co_await UnixDatagram::bind("unix:" + name);
    auto nameless = UnixDatagram::unbound();
    co_await nameless.send_to("1", name);
    co_await at_path.send_to("2", at_name.local_addr());
    std::array<char, 16> buf{};
    const Received first = co_await at_name.recv_from(buf);
    EXPECT_TRUE(first.from.is_unnamed());
    const Received second = co_await at_name.recv_from(buf);
    EXPECT_EQ(second.from.path(), dir.file("socket"));
    co_await at_name.send_to("3", "unix:" + dir.file("socket"));
    const Received third = co_await at_path.recv_from(buf);
    EXPECT_EQ(third.from, SocketAddr::unix_abstract(name.substr(1)).value());
    EXPECT_EQ(buf[0], '3');
  });
}

TEST_P(UnixDatagrams, AConnectedOneSendsToItsPeer) {
  run([]() -> Async<void> {
    const std::string name = abstract_name();
    auto receiver = co_await UnixDatagram::bind(name);
    auto sender = UnixDatagram::unbound();
    const auto early = co_await sender.send("x").result();
    EXPECT_TRUE(!early && early.error() == std::errc::not_connected);
    co_await sender.connect(name);
    EXPECT_EQ(sender.peer_addr(), receiver.local_addr());
    co_await sender.send("hello");
    std::array<char, 16> buf{};
    const std::size_t size = co_await receiver.recv(buf);
    EXPECT_EQ(text_of(buf, size), "hello");
  });
}

TEST_P(UnixDatagrams, WhatDoesNotFitIsCutOffAndThatIsTold) {
  run([]() -> Async<void> {
    auto [one, other] = UnixDatagram::pair();
    co_await one.send("0123456789");
    std::array<char, 4> buf{};
    const Received cut = co_await other.recv_from(buf);
    EXPECT_EQ(cut.size, 4U);
    EXPECT_EQ(cut.full_size(), 10U);
    EXPECT_TRUE(cut.truncated());
  });
}

TEST_P(UnixDatagrams, APathThatExistsIsInUseAndNobodyThereIsRefused) {
  const SocketDirectory dir;
  run([&]() -> Async<void> {
    const std::string path = dir.file("socket");
    {
      auto first = co_await UnixDatagram::bind(path);
    }
    EXPECT_TRUE(std::filesystem::exists(path));
    const auto second = co_await UnixDatagram::bind(path).result();
    EXPECT_TRUE(!second && second.error() == std::errc::address_in_use);
    auto sender = UnixDatagram::unbound();
    const auto nobody = co_await sender.send_to("x", path).result();
    EXPECT_TRUE(!nobody && nobody.error() == std::errc::connection_refused);
    const auto no_file = co_await sender.send_to("x", dir.file("none")).result();
    EXPECT_TRUE(!no_file && no_file.error() == std::errc::no_such_file_or_directory);
    const auto connected = co_await sender.connect(dir.file("none")).result();
    EXPECT_TRUE(!connected && connected.error() == std::errc::no_such_file_or_directory);
  });
}

/// Sends until the receiver's queue is full: how many went in.
int fill(UnixDatagram& sender, const SocketAddr& to) {
  int count = 0;
  while (sender.try_send_to("x", to)) ++count;
  return count;
}

Async<void> receive_some(UnixDatagram& socket, int count) {
  std::array<char, 16> buf{};
  for (int i = 0; i < count; ++i) co_await socket.recv(buf);
}

TEST_P(UnixDatagrams, AConnectedSenderWaitsWhileItsPeersQueueIsFull) {
  run([]() -> Async<void> {
    auto [one, other] = UnixDatagram::pair();
    int count = 0;
    while (one.try_send("x")) ++count;
    testing::PollHarness stuck(one.send("last"));
    const bool is_pending = stuck.poll().is_pending();
    EXPECT_TRUE(is_pending && stuck.kept_waker());
    co_await receive_some(other, count);
    co_await stuck.future();
    std::array<char, 16> buf{};
    const std::size_t size = co_await other.recv(buf);
    EXPECT_EQ(text_of(buf, size), "last");
  });
}

TEST_P(UnixDatagrams, ASenderWhoseDatagramsAreNotAmongThoseOfAFullQueueIsNotForgotten) {
  run([]() -> Async<void> {
    auto receiver = co_await UnixDatagram::bind(abstract_name());
    auto busy = UnixDatagram::unbound();
    auto late = UnixDatagram::unbound();
    const int count = fill(busy, receiver.local_addr());
    testing::PollHarness stuck(late.send_to("late", receiver.local_addr()));
    const bool is_pending = stuck.poll().is_pending();
    EXPECT_TRUE(is_pending && stuck.kept_waker());
    co_await receive_some(receiver, count);
    co_await stuck.future();
    std::array<char, 16> buf{};
    const std::size_t size = co_await receiver.recv(buf);
    EXPECT_EQ(text_of(buf, size), "late");
  });
}

TEST_P(UnixDatagrams, AFullReceiverDoesNotKeepOthersFromBeingSentTo) {
  run([]() -> Async<void> {
    auto full = co_await UnixDatagram::bind(abstract_name());
    auto free = co_await UnixDatagram::bind(abstract_name());
    auto busy = UnixDatagram::unbound();
    auto sender = UnixDatagram::unbound();
    fill(busy, full.local_addr());
    testing::PollHarness stuck(sender.send_to("x", full.local_addr()));
    const bool is_pending = stuck.poll().is_pending();
    EXPECT_TRUE(is_pending);
    testing::PollHarness other(sender.send_to("x", free.local_addr()));
    const bool is_ready = other.poll().is_ready();
    EXPECT_TRUE(is_ready);
  });
}

TEST_P(UnixDatagrams, ARecvDroppedAtAnyPollLosesNoDatagram) {
  const EnterGuard here = rt.enter();
  auto [one, other] = UnixDatagram::pair();
  std::array<char, 8> buf{};
  const auto send = [&, &from = one, &to = other](const char* text) {
    ASSERT_TRUE(from.try_send(text));
    rt.block_on(to.readable());
  };
  const auto report =
      drop_receive_at_each_poll(rt, buf, send, [&, &to = other] { return to.recv(buf); });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

}  // namespace
}  // namespace rouse::net
