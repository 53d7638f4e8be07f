#include "rouse/net/tcp_listener.hpp"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <sys/socket.h>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/spawner.hpp"
#include "rouse/io/error.hpp"
#include "rouse/runtime/join_set.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "net/native_address.hpp"
#include "net/support.hpp"
#include "sys/fd.hpp"
#include "sys/socket.hpp"

namespace rouse::net {

using namespace internal;
namespace {

class TcpListeners : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, TcpListeners, both_kinds(), name_of);

TcpListener listen_on(Runtime& rt) { return rt.block_on(TcpListener::bind("127.0.0.1:0")); }

/// Connected when it returns: it waits to be accepted.
io::OwnedFd connect_to(const SocketAddr& address) {
  io::OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sys::connect(fd.get(), to_native(address)).value();
  return fd;
}

TEST_P(TcpListeners, PortZeroIsReplacedByOneThatIsFree) {
  const TcpListener listener = listen_on(rt);
  EXPECT_NE(listener.local_addr().port(), 0);
  EXPECT_EQ(listener.local_addr().ip(), IpAddr::loopback());
}

TEST_P(TcpListeners, AnAddressInUseCantBeBoundAgain) {
  const TcpListener listener = listen_on(rt);
  const auto second = rt.block_on(TcpListener::bind(listener.local_addr()).result());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), std::errc::address_in_use);
}

TEST_P(TcpListeners, AcceptTellsWhoConnected) {
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("[::1]:0");
    auto client = co_await TcpStream::connect(listener.local_addr());
    auto [stream, peer] = co_await listener.accept();
    EXPECT_EQ(peer, client.local_addr());
    EXPECT_EQ(stream.local_addr(), listener.local_addr());
  });
}

Async<std::vector<SocketAddr>> accept_some(TcpListener& listener, int count) {
  std::vector<SocketAddr> peers;
  for (int i = 0; i < count; ++i) {
    auto accepted = co_await listener.accept();
    peers.push_back(accepted.peer);
  }
  co_return peers;
}

TEST_P(TcpListeners, SeveralTasksAcceptAtOnceAndEachConnectionIsGivenToOne) {
  constexpr int tasks = 4;
  constexpr int each = 25;
  TcpListener listener = listen_on(rt);
  std::vector<JoinHandle<std::vector<SocketAddr>>> accepting;
  for (int i = 0; i < tasks; ++i) {
    accepting.push_back(rt.spawn(borrowed(accept_some(listener, each))));
  }
  std::set<SocketAddr> clients;
  std::vector<TcpStream> streams;
  run([&]() -> Async<void> {
    for (int i = 0; i < tasks * each; ++i) {
      streams.push_back(co_await TcpStream::connect(listener.local_addr()));
      clients.insert(streams.back().local_addr());
    }
  });
  std::set<SocketAddr> accepted;
  for (auto& task : accepting) {
    const std::vector<SocketAddr> peers = rt.block_on(task);
    accepted.insert(peers.begin(), peers.end());
  }
  EXPECT_EQ(accepted, clients);
}

TEST_P(TcpListeners, AnAcceptDroppedAtAnyPollLosesNoConnection) {
  TcpListener listener = listen_on(rt);
  const EnterGuard here = rt.enter();
  // Tells that the runtime has seen a connection, without taking it.
  const io::AsyncFd watch(sys::duplicate(listener.fd()).value(), io::Interest::readable);
  std::vector<io::OwnedFd> clients;
  std::size_t accepted = 0;
  const auto report =
      testing::drop_at_each_poll([&] { return listener.accept(); },
                                 [&](std::size_t) {
                                   clients.push_back(connect_to(listener.local_addr()));
                                   rt.block_on(watch.readable()).clear_ready();
                                 },
                                 [&](std::size_t k) {
                                   if (k > 1) return;
                                   clients.push_back(connect_to(listener.local_addr()));
                                   (void)rt.block_on(listener.accept());
                                   ++accepted;
                                 });
  EXPECT_FALSE(report.threw);
  EXPECT_EQ(accepted, 2U);
  // In the rounds after the second nothing was accepted but by the last.
  for (std::size_t i = accepted + 1; i < clients.size(); ++i) {
    (void)rt.block_on(listener.accept());
  }
  testing::PollHarness none(listener.accept());
  EXPECT_TRUE(none.poll().is_pending());
}

TEST_P(TcpListeners, IncomingIsAStreamOfConnections) {
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    auto incoming = listener.incoming();
    for (int i = 0; i < 3; ++i) {
      auto client = co_await TcpStream::connect(listener.local_addr());
      auto accepted = co_await incoming.next();
      EXPECT_TRUE(accepted && accepted->peer == client.local_addr());
    }
  });
}

TEST_P(TcpListeners, AThousandConnectionsLeaveNoDescriptorBehind) {
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    const std::size_t before = open_descriptors();
    std::array<char, 1> buf{};
    for (int i = 0; i < 1000; ++i) {
      auto client = co_await TcpStream::connect(listener.local_addr());
      client.set_linger(std::chrono::seconds(0));  // no port stays in TIME_WAIT
      auto accepted = co_await listener.accept();
      co_await client.write_all("x");
      const std::size_t n = co_await accepted.stream.read(buf);
      EXPECT_EQ(n, 1U);
    }
    EXPECT_EQ(open_descriptors(), before);
  });
}

TEST_P(TcpListeners, WithoutFreeDescriptorsAcceptWaitsUntilThereIsOne) {
  if (address_sanitizer) GTEST_SKIP() << "UBSan's check of virtual calls needs descriptors itself";
  TcpListener listener = listen_on(rt);
  const io::OwnedFd client = connect_to(listener.local_addr());
  rt.block_on([&]() -> Async<void> {
    auto accept = listener.accept();
    testing::PollHarness harness(std::move(accept));
    {
      const DescriptorLimit none(static_cast<rlim_t>(3));  // as many as are standard
      for (int i = 0; i < 3; ++i) {
        const bool is_pending = harness.poll().is_pending();
        EXPECT_TRUE(is_pending && harness.kept_waker());
      }
    }
    auto accepted = co_await harness.future();
    EXPECT_TRUE(accepted.peer.ip().is_loopback());
  }());
}

TEST_P(TcpListeners, AListenerThatOutlivesItsRuntimeSaysSo) {
  std::optional<Runtime> inner(make_runtime(GetParam()));
  TcpListener listener = inner->block_on(TcpListener::bind("127.0.0.1:0"));
  {
    testing::PollHarness first(listener.accept());
    EXPECT_TRUE(first.poll().is_pending());
  }
  inner.reset();
  testing::PollHarness accept(listener.accept().result());
  auto polled = accept.poll();
  ASSERT_TRUE(polled.is_ready());
  ASSERT_FALSE(polled.value());
  EXPECT_EQ(polled.value().error(), io::Error::runtime_ended);
}

}  // namespace
}  // namespace rouse::net
