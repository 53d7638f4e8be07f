// A handshake has an end: its own timeout, or the Deadline of the work that it is a part of.
#include <chrono>
#include <string>
#include <utility>

#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/runtime/deadline.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/time/pause.hpp"

#include "tls/support.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using namespace std::chrono_literals;

void run_paused(Async<> test) {
  Runtime runtime = Runtime::builder().current_thread().build();
  runtime.block_on([](Async<> inner) -> Async<> {
    time::pause();
    co_await inner;
  }(std::move(test)));
}

TEST(HandshakeTimeout, IsTenSecondsByDefault) {
  run_paused([]() -> Async<> {
    const tls::Connector connector(tls::ClientConfig().trust_pem(authority().pem()));
    auto [near, far] = io::duplex(65536);
    const time::Instant began = time::now();
    auto connecting = connector.connect(std::move(near), "slow.test");
    std::string said;
    try {
      (void)co_await std::move(connecting);
    } catch (const std::system_error& error) {
      said = error.what();
      EXPECT_EQ(error.code(), tls::Error::handshake_timeout);
      EXPECT_EQ(error.code(), std::errc::timed_out);
    }
    EXPECT_EQ(time::now() - began, 10s);
    EXPECT_EQ(said, "TLS with slow.test: the handshake took too long");
  }());
}

TEST(HandshakeTimeout, IsAsLongAsTheConfigSays) {
  run_paused([]() -> Async<> {
    const tls::Acceptor acceptor(server_config().handshake_timeout(250ms));
    auto [near, far] = io::duplex(65536);
    const time::Instant began = time::now();
    const auto peer = co_await acceptor.accept(std::move(near)).result();
    EXPECT_EQ(peer.error(), tls::Error::handshake_timeout);
    EXPECT_EQ(time::now() - began, 250ms);
    EXPECT_EQ(co_await far.read_to_string(), "") << "it was closed";
  }());
}

TEST(HandshakeTimeout, AnEarlierDeadlineCounts) {
  run_paused([]() -> Async<> {
    const tls::Connector connector(client_config());
    auto [near, far] = io::duplex(65536);
    auto connecting = connector.connect(std::move(near), "slow.test").result();
    const auto peer = co_await with_deadline(3s, std::move(connecting));
    EXPECT_EQ(peer.error(), DeadlineError::passed);
  }());
}

TEST(HandshakeTimeout, DoesNotEndAConnection) {
  run_paused([]() -> Async<> {
    const tls::Connector connector(tls::ClientConfig().trust_pem(authority().pem()));
    const tls::Acceptor acceptor(server_config().handshake_timeout(1s));
    auto [near, far] = io::duplex(65536);
    auto [client, server] = co_await join(connector.connect(std::move(near), "localhost"),
                                          acceptor.accept(std::move(far)));
    co_await time::advance(1min);
    co_await client.write_all("still here");
    co_await client.shutdown();
    EXPECT_EQ(co_await server.read_to_string(), "still here");
  }());
}

}  // namespace
