// Many connections at once over TCP, and a configuration that is replaced meanwhile.
#include <optional>
#include <string>
#include <utility>

#include "rouse/io/copy.hpp"
#include "rouse/io/split.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/runtime/join_set.hpp"
#include "rouse/runtime/runtime.hpp"

#include "support/program.hpp"
#include "tls/support.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using TlsSocket = tls::Stream<net::TcpStream>;

Async<> echo(tls::Acceptor acceptor, net::TcpStream socket) {
  TlsSocket peer = co_await acceptor.accept(std::move(socket));
  auto [reader, writer] = io::split(std::move(peer));
  co_await io::copy(reader, writer);
  co_await writer.shutdown();
}

Async<> serve(net::TcpListener listener, tls::Acceptor acceptor) {
  for (;;) {
    auto accepted = co_await listener.accept();
    spawn(echo, acceptor, std::move(accepted.stream)).detach();
  }
}

Async<> send_all(io::WriteHalf<TlsSocket> writer, std::string text) {
  co_await writer.write_all(text);
  co_await writer.shutdown();
}

/// Whether what comes back is what was sent.
Async<bool> talk(tls::Connector connector, net::SocketAddr at, std::size_t size) {
  net::TcpStream socket = co_await net::TcpStream::connect(at);
  TlsSocket peer = co_await connector.connect(std::move(socket), "localhost");
  auto [reader, writer] = io::split(std::move(peer));
  const std::string sent = noise(size, size);
  auto sending = spawn(send_all, std::move(writer), sent);
  const std::string heard = co_await reader.read_to_string();
  co_await sending;
  co_return heard == sent;
}

TEST(Load, MuchGoesBothWaysAtOnce) {
  Runtime runtime = Runtime::builder().worker_threads(2).build();
  auto go = []() -> Async<> {
    auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
    const net::SocketAddr at = listener.local_addr();
    auto serving = spawn(serve, std::move(listener), tls::Acceptor(server_config()));
    const tls::Connector connector(client_config());
    for (const std::size_t size : {1U, 100'000U, 3'000'000U})
      EXPECT_TRUE(co_await talk(connector, at, size)) << size;
    serving.abort();
  };
  runtime.block_on(go());
}

TEST(Load, AReloadBothersNobody) {
  Runtime runtime = Runtime::builder().worker_threads(2).build();
  auto go = []() -> Async<> {
    auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
    const net::SocketAddr at = listener.local_addr();
    tls::Acceptor acceptor(server_config());
    auto serving = spawn(serve, std::move(listener), acceptor);
    const tls::Connector connector(client_config());
    JoinSet<bool> talks;
    const Issued renewed = authority().issue(For("localhost"));
    for (int i = 0; i < 60; ++i) {
      talks.spawn(talk, connector, at, std::size_t{5000});
      if (i % 3 == 0) acceptor.reload(i % 2 == 0 ? server_config(renewed) : server_config());
      if (i % 10 != 9) continue;
      const std::optional<bool> talked = co_await talks.join_next();
      EXPECT_TRUE(talked.value());
    }
    while (auto talked = co_await talks.join_next()) EXPECT_TRUE(*talked);
    serving.abort();
  };
  runtime.block_on(go());
}

TEST(Load, AReloadIsSeenByTheNextHandshake) {
  tls::Acceptor acceptor(server_config());
  const tls::Acceptor copy = acceptor;
  const tls::Connector connector(client_config().remember_sessions(0));
  const std::string before = *connect(connector, copy).client->peer_certificate();
  Ends old = connect(connector, copy);
  acceptor.reload(server_config(authority().issue(For("localhost"))));
  EXPECT_NE(connect(connector, copy).client->peer_certificate(), before);
  EXPECT_EQ(old.client->peer_certificate(), before);
  block_on(old.client->write_all("still here"));
  block_on(old.client->shutdown());
  EXPECT_EQ(block_on(old.server->read_to_string()), "still here");
}

}  // namespace
