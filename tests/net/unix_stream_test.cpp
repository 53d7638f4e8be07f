#include "rouse/net/unix_stream.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/spawner.hpp"
#include "rouse/future/join.hpp"
#include "rouse/io/error.hpp"
#include "rouse/net/unix_listener.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"
#include "rouse/time/sleep.hpp"

#include "net/native_address.hpp"
#include "net/support.hpp"
#include "sys/socket.hpp"

namespace rouse::net {
namespace {

using namespace std::chrono_literals;

class UnixStreams : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, UnixStreams, both_kinds(), name_of);

static_assert(io::is_full_duplex<UnixStream>);

Async<void> expect_echo(std::string bind_to, std::string connect_to, SocketAddr expected) {
  auto listener = co_await UnixListener::bind(bind_to);
  EXPECT_EQ(listener.local_addr(), expected);
  auto client = co_await UnixStream::connect(connect_to);
  auto [server, peer] = co_await listener.accept();
  EXPECT_TRUE(peer.is_unnamed());
  EXPECT_EQ(client.peer_addr(), expected);
  EXPECT_EQ(server.local_addr(), expected);
  EXPECT_TRUE(client.local_addr().is_unnamed());
  co_await client.write_all("hello");
  co_await client.shutdown();
  const std::string text = co_await server.read_to_string();
  EXPECT_EQ(text, "hello");
  co_await server.write_all("bye");
  std::array<char, 8> buf{};
  const std::size_t n = co_await client.read(buf);
  EXPECT_EQ(text_of(buf, n), "bye");
}

TEST_P(UnixStreams, PathsAreTakenWithAndWithoutTheirScheme) {
  const SocketDirectory dir;
  const auto at = [&](const char* name) { return SocketAddr::unix_path(dir.file(name)).value(); };
  rt.block_on(expect_echo(dir.file("a"), "unix:" + dir.file("a"), at("a")));
  rt.block_on(expect_echo("unix:" + dir.file("b"), dir.file("b"), at("b")));
}

TEST_P(UnixStreams, AbstractNamesAreTakenWithAndWithoutTheirScheme) {
  for (const bool scheme_first : {true, false}) {
    const std::string name = abstract_name();
    const SocketAddr at = SocketAddr::unix_abstract(name.substr(1)).value();
    rt.block_on(scheme_first ? expect_echo("unix:" + name, name, at)
                             : expect_echo(name, "unix:" + name, at));
  }
}

TEST_P(UnixStreams, AnAddressIsTakenToo) {
  const std::string name = abstract_name();
  const SocketAddr at = SocketAddr::unix_abstract(name.substr(1)).value();
  run([&]() -> Async<void> {
    auto listener = co_await UnixListener::bind(at);
    auto client = co_await UnixStream::connect(listener.local_addr());
    EXPECT_EQ(client.peer_addr(), at);
  });
}

TEST_P(UnixStreams, APathThatExistsIsInUseAlsoAfterItsListenerHasEnded) {
  const SocketDirectory dir;
  run([&]() -> Async<void> {
    const std::string path = dir.file("socket");
    {
      auto first = co_await UnixListener::bind(path);
    }
    EXPECT_TRUE(std::filesystem::exists(path));
    const auto second = co_await UnixListener::bind(path).result();
    EXPECT_TRUE(!second && second.error() == std::errc::address_in_use);
    EXPECT_TRUE(std::filesystem::exists(path));
    const auto nobody = co_await UnixStream::connect(path).result();
    EXPECT_TRUE(!nobody && nobody.error() == std::errc::connection_refused);
    std::filesystem::remove(path);
    const auto third = co_await UnixListener::bind(path).result();
    EXPECT_TRUE(third);
  });
}

TEST_P(UnixStreams, WhatIsNotThereOrNoAddressIsAnError) {
  const SocketDirectory dir;
  run([&]() -> Async<void> {
    const auto no_file = co_await UnixStream::connect(dir.file("none")).result();
    EXPECT_TRUE(!no_file && no_file.error() == std::errc::no_such_file_or_directory);
    const auto no_name = co_await UnixStream::connect(abstract_name()).result();
    EXPECT_TRUE(!no_name && no_name.error() == std::errc::connection_refused);
    const auto empty = co_await UnixStream::connect("").result();
    EXPECT_TRUE(!empty && empty.error() == Error::empty_path);
    const std::string long_path(200, 'x');
    const auto too_long = co_await UnixListener::bind(long_path).result();
    EXPECT_TRUE(!too_long && too_long.error() == Error::path_too_long);
    const auto no_directory = co_await UnixListener::bind(dir.file("none/socket")).result();
    EXPECT_TRUE(!no_directory && no_directory.error() == std::errc::no_such_file_or_directory);
  });
}

TEST_P(UnixStreams, BothEndsOfAPairKnowWhoTheOtherIs) {
  const EnterGuard here = rt.enter();
  auto [one, other] = UnixStream::pair();
  for (const UnixStream* end : {&one, &other}) {
    const PeerCred peer = end->peer_cred();
    EXPECT_EQ(peer.pid, ::getpid());
    EXPECT_EQ(peer.uid, ::getuid());
    EXPECT_EQ(peer.gid, ::getgid());
    EXPECT_TRUE(end->local_addr().is_unnamed());
    EXPECT_TRUE(end->peer_addr().is_unnamed());
  }
}

TEST_P(UnixStreams, EndsAndErrorsAreThoseOfAStream) {
  run([]() -> Async<void> {
    auto [one, other] = UnixStream::pair();
    co_await one.write_all("last");
    {
      const UnixStream gone = std::move(one);
    }
    const std::string rest = co_await other.read_to_string();
    EXPECT_EQ(rest, "last");
    const auto written = co_await other.write("x").result();
    EXPECT_TRUE(!written && written.error() == std::errc::broken_pipe);
  });
}

Async<std::string> read_all(UnixStream& stream, std::size_t size) {
  std::string all(size, '\0');
  co_await stream.read_exact(all);
  co_return all;
}

TEST_P(UnixStreams, MuchIsWrittenAndReadInBothDirectionsAtOnce) {
  run([]() -> Async<void> {
    auto [one, other] = UnixStream::pair();
    const std::string data(3'000'000, 'd');
    auto [a, b, c, d] = co_await join(one.write_all(data), read_all(one, data.size()),
                                      other.write_all(data), read_all(other, data.size()));
    (void)a;
    (void)c;
    EXPECT_TRUE(b == data);
    EXPECT_TRUE(d == data);
  });
}

/// One byte with a descriptor: readers without room for that stop behind it.
void send_with_descriptor(int socket, char byte, int descriptor) {
  iovec vec{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &vec;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  ASSERT_EQ(::sendmsg(socket, &message, MSG_NOSIGNAL), 1);
}

TEST_P(UnixStreams, AReadThatStopsAtADescriptorDoesNotHideWhatFollows) {
  run([]() -> Async<void> {
    auto [one, other] = UnixStream::pair();
    const std::size_t before = open_descriptors();
    co_await one.write_all("a");
    send_with_descriptor(one.fd(), 'b', one.fd());
    co_await one.write_all("c");
    std::string all;
    std::array<char, 16> buf{};
    while (all.size() < 3) {
      const std::size_t n = co_await other.read(buf);
      all.append(buf.data(), n);
    }
    EXPECT_EQ(all, "abc");
    EXPECT_EQ(open_descriptors(), before);
  });
}

/// A listener whose queue is full, and those who fill it.
struct FullListener {
  explicit FullListener(const std::string& name) {
    const auto address = to_native(SocketAddr::unix_abstract(name.substr(1)).value());
    fd = sys::open_socket(AF_UNIX, sys::SocketKind::stream).value();
    sys::bind(fd.get(), address).value();
    sys::listen(fd.get(), 1).value();
    for (;;) {
      auto client = sys::open_socket(AF_UNIX, sys::SocketKind::stream).value();
      if (!sys::connect(client.get(), address)) break;
      clients.push_back(std::move(client));
    }
  }
  io::OwnedFd fd;
  std::vector<io::OwnedFd> clients;
};

TEST_P(UnixStreams, AConnectToAFullListenerWaitsUntilThereIsRoom) {
  run([]() -> Async<void> {
    const std::string name = abstract_name();
    FullListener full(name);
    testing::PollHarness connect(UnixStream::connect(name));
    const bool is_pending = connect.poll().is_pending();
    EXPECT_TRUE(is_pending && connect.kept_waker());
    sys::NativeAddress peer;
    for (std::size_t i = 0; i < full.clients.size(); ++i) {
      const auto accepted = sys::accept(full.fd.get(), peer);
      EXPECT_TRUE(accepted);
    }
    const auto client = co_await connect.future();
    EXPECT_GE(client.fd(), 0);
  });
}

TEST_P(UnixStreams, AConnectThatWaitsAndIsDroppedLeaksNothing) {
  run([]() -> Async<void> {
    const std::string name = abstract_name();
    FullListener full(name);
    const std::size_t before = open_descriptors();
    const auto report = testing::drop_at_each_poll(
        [&] { return UnixStream::connect(name); },
        [&](std::size_t polls) {
          if (polls == 3) full.fd.close();  // now it is refused, when the pause is over
        },
        [&](std::size_t k) {
          if (k < 4) {
            EXPECT_EQ(open_descriptors(), before);
          }
        });
    EXPECT_TRUE(report.threw);
    EXPECT_EQ(report.wakers_left, 0U);
    co_return;
  });
}

TEST_P(UnixStreams, AReadDroppedAtAnyPollLosesNoByte) {
  const EnterGuard here = rt.enter();
  auto [one, other] = UnixStream::pair();
  std::array<char, 4> buf{};
  const auto send = [&, &from = one, &to = other](const char* text) {
    ASSERT_TRUE(from.try_write(text));
    rt.block_on(to.readable());
  };
  const auto report =
      drop_receive_at_each_poll(rt, buf, send, [&, &to = other] { return to.read(buf); });
  EXPECT_EQ(report.polls, 2U);
}

TEST_P(UnixStreams, ManyConnectionsLeaveNoDescriptorBehind) {
  run([]() -> Async<void> {
    const std::string name = abstract_name();
    auto listener = co_await UnixListener::bind(name);
    auto incoming = listener.incoming();
    const std::size_t before = open_descriptors();
    for (int i = 0; i < 1000; ++i) {
      auto client = co_await UnixStream::connect(name);
      auto accepted = co_await incoming.next();
      EXPECT_TRUE(accepted);
    }
    EXPECT_EQ(open_descriptors(), before);
  });
}

TEST_P(UnixStreams, OneThatOutlivesItsRuntimeSaysSo) {
  std::optional<Runtime> inner(make_runtime(GetParam()));
  std::optional<std::pair<UnixStream, UnixStream>> ends;
  {
    const EnterGuard here = inner->enter();
    ends.emplace(UnixStream::pair());
  }
  std::array<char, 4> buf{};
  EXPECT_FALSE(ends->first.try_read(buf));
  inner.reset();
  testing::PollHarness read(ends->first.read(buf).result());
  auto polled = read.poll();
  ASSERT_TRUE(polled.is_ready());
  ASSERT_FALSE(polled.value());
  EXPECT_EQ(polled.value().error(), io::Error::runtime_ended);
}

}  // namespace
}  // namespace rouse::net
