// WebSocket, both ends against each other, behind a server.
#include <gtest/gtest.h>

#include "rouse/http/error.hpp"
#include "rouse/http/server.hpp"
#include "rouse/http/ws_connect.hpp"
#include "rouse/io/error.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/tls.hpp"

#include "http/service.hpp"
#include "http/support.hpp"
#include "http/ws_handshake.hpp"
#include "http/ws_support.hpp"
#include "support/certificates.hpp"

namespace rouse::http::ws {
namespace {

/// A client whose server is behind a duplex.
AsyncResult<Socket> connected(Router routes, ConnectOptions options = ConnectOptions()) {
  auto [client, server] = io::duplex(1000);
  spawn(serve_connection(std::move(server), std::move(routes))).detach();
  co_return co_await connect(std::move(client), "example.org", "/chat", std::move(options));
}

TEST(WebSocketEnds, BothEndsUnderstandEachOther) {
  run_paused([]() -> Async<void> {
    Socket client = co_await connected(chat_routes());
    EXPECT_EQ(client.protocol(), "");
    co_await client.send("hello");
    const auto answer = co_await client.recv();
    EXPECT_EQ(answer->text(), "hello");
    const time::Instant before = time::now();
    co_await client.close();
    EXPECT_EQ(time::now(), before);  // nobody waited for anything
  });
}

TEST(WebSocketEnds, BothEndsKnowTheSubprotocol) {
  run_paused([]() -> Async<void> {
    Router routes;
    routes.get("/chat", [](Request& request) -> Async<Response> {
      UpgradeOptions spoken;
      spoken.protocols = {"v2"};
      const auto tell = [](Socket peer) -> Async<void> {
        std::string protocol = peer.protocol();
        co_await peer.send(std::move(protocol));
      };
      co_return upgrade(request, tell, std::move(spoken));
    });
    ConnectOptions options;
    options.protocols = {"v1", "v2"};
    Socket client = co_await connected(std::move(routes), std::move(options));
    EXPECT_EQ(client.protocol(), "v2");
    const auto told = co_await client.recv();
    EXPECT_EQ(told->text(), "v2");
    const auto end = co_await client.recv();
    EXPECT_FALSE(end);
    EXPECT_EQ(client.peer_close().code, CloseCode::normal);  // its handler has ended
  });
}

TEST(WebSocketEnds, AHandlerThatThrowsClosesWith1011) {
  run_paused([]() -> Async<void> {
    Router routes;
    routes.get("/chat", [](Request& request) -> Async<Response> {
      const auto fail = [](Socket peer) -> Async<void> {
        const auto message = co_await peer.recv();
        throw std::runtime_error("a secret");
      };
      co_return upgrade(request, fail);
    });
    Socket client = co_await connected(std::move(routes));
    co_await client.send("hello");
    const auto end = co_await client.recv();
    EXPECT_FALSE(end);
    EXPECT_EQ(client.peer_close().code, CloseCode::internal_error);
    EXPECT_EQ(client.peer_close().reason, "");
  });
}

TEST(WebSocketEnds, AHandlerMayLeaveItsSocketToATask) {
  run_paused([]() -> Async<void> {
    Router routes;
    routes.get("/chat", [](Request& request) -> Async<Response> {
      const auto leave = [](Socket peer) -> Async<void> {
        spawn(echo, std::move(peer)).detach();
        co_return;
      };
      co_return upgrade(request, leave);
    });
    Socket client = co_await connected(std::move(routes));
    for (int i = 0; i < 3; ++i) {
      co_await client.send("hello");
      const auto answer = co_await client.recv();
      EXPECT_EQ(answer->text(), "hello");
    }
    co_await client.close();
  });
}

TEST(WebSocketEnds, AnOpenOneIsNoRequestThatIsBeingAnswered) {
  run_paused([]() -> Async<void> {
    ServerOptions options;
    options.max_requests = 1;
    const auto service = make_ref<Service>(chat_routes(), std::move(options));
    std::vector<Socket> open;
    for (int i = 0; i < 3; ++i) {
      auto [client, server] = io::duplex(1000);
      spawn(serve_stream(std::move(server), service, Origin())).detach();
      auto connected = co_await connect(std::move(client), "example.org", "/chat").result();
      EXPECT_TRUE(connected) << i;
      if (connected) open.push_back(*std::move(connected));
    }
    for (Socket& peer : open) co_await peer.close();
  });
}

TEST(WebSocketEnds, AClientSaysThatItWasRefused) {
  run_paused([]() -> Async<void> {
    const auto refused = co_await connected(Router(hello)).result();
    EXPECT_EQ(refused.error(), Error::refused);
    auto [client, server] = io::duplex(1000);
    co_await server.write_all("SSH-2.0-OpenSSH_9.2p1\r\n");
    const auto other = co_await connect(std::move(client), "example.org", "/").result();
    EXPECT_EQ(other.error(), http::Error::bad_message);
  });
}

TEST(WebSocketEnds, AServerThatLeavesOrIsSilentIsNoServer) {
  run_paused([]() -> Async<void> {
    auto [client, server] = io::duplex(1000);
    JoinHandle<void> leaving = spawn(
        [](io::DuplexStream stream) -> Async<void> {
          co_await stream.write_all("HTTP/1.1 101 Swi");
        },
        std::move(server));
    const auto ended = co_await connect(std::move(client), "example.org", "/").result();
    EXPECT_TRUE(ended.error() == io::Error::unexpected_eof ||
                ended.error() == std::errc::broken_pipe);
    co_await leaving;

    auto [patient, silent] = io::duplex(1000);
    const time::Instant before = time::now();
    const auto waited = co_await connect(std::move(patient), "example.org", "/").result();
    EXPECT_EQ(waited.error(), std::errc::timed_out);
    EXPECT_GE(time::now() - before, 10s);
  });
}

TEST(WebSocketEnds, WhatIsNoUrlIsRefusedBeforeAnythingIsAsked) {
  run_paused([]() -> Async<void> {
    const auto bad = co_await connect("http://localhost/").result();
    EXPECT_EQ(bad.error(), Error::bad_url);
    auto [client, server] = io::duplex(1000);
    const auto split = co_await connect(std::move(client), "a", "/ HTTP/1.1\r\nX: y").result();
    EXPECT_EQ(split.error(), http::Error::bad_target);
    auto [again, other] = io::duplex(1000);
    const auto host = co_await connect(std::move(again), "a\r\nX: y", "/").result();
    EXPECT_EQ(host.error(), http::Error::bad_header_value);
  });
}

TEST(WebSocketEnds, MessagesBehindTheAnswerAreNotLostHoweverItIsCut) {
  // The server greets at once: its first message comes in one piece with the 101, or does not.
  for (const std::size_t capacity : {1U, 50U, 130U, 140U, 5000U}) {
    run_paused([capacity]() -> Async<void> {
      Router routes;
      routes.get("/chat", [](Request& request) -> Async<Response> {
        const auto greet = [](Socket peer) -> Async<void> {
          co_await peer.send("welcome");
          const auto bye = co_await peer.recv();
          static_cast<void>(bye);
        };
        co_return upgrade(request, greet);
      });
      auto [client, server] = io::duplex(capacity);
      spawn(serve_connection(std::move(server), std::move(routes))).detach();
      Socket peer = co_await connect(std::move(client), "example.org", "/chat");
      co_await sleep(1s);
      const auto greeting = co_await peer.recv();
      EXPECT_EQ(greeting->text(), "welcome");
      co_await peer.close();
    });
  }
}

TEST(WebSocketEnds, AClientMaySpeakBeforeItHasTheAnswer) {
  const std::string key = "dGhlIHNhbXBsZSBub25jZQ==";
  ConnectOptions options;
  const std::string answer =
      answers(write_handshake("a", "/chat", key, options) + masked_frame(text_frame, "early") +
                  masked_frame(close_frame, ""),
              chat_routes());
  EXPECT_TRUE(answer.ends_with(plain_frame(text_frame, "early") + plain_frame(close_frame, "")));
}

// ----- over sockets

/// A server on a port of its own, until it is dropped.
struct Listening {
  net::SocketAddr at;
  JoinHandle<net::Served> serving;
};
Async<net::Served> serve(Server server, Router routes) {
  co_return co_await server.serve(std::move(routes));
}
Async<Listening> listen(const tls::ServerConfig* tls) {
  auto server = co_await Server::bind("127.0.0.1:0");
  if (tls) server.tls(*tls);
  const net::SocketAddr at = server.local_addr();
  co_return Listening{at, spawn(serve, std::move(server), chat_routes())};
}

/// Large messages both ways at once, then a close.
Async<void> talk(Socket client) {
  auto [reader, writer] = std::move(client).split();
  constexpr std::size_t count = 20;
  const auto send_all = [](Sender to) -> Async<Sender> {
    for (std::size_t i = 0; i < count; ++i) {
      co_await to.send(Message::binary(std::string(50'000 * i, static_cast<char>(i))));
    }
    co_return to;
  };
  JoinHandle<Sender> sending = spawn(send_all, std::move(writer));
  for (std::size_t i = 0; i < count; ++i) {
    const auto echoed = co_await reader.recv();
    EXPECT_TRUE(echoed == Message::binary(std::string(50'000 * i, static_cast<char>(i)))) << i;
  }
  Sender done = co_await sending;
  co_await done.close();
}

TEST(WebSocketEnds, OverTcpByAUrl) {
  Runtime rt = Runtime::builder().worker_threads(2).build();
  rt.block_on([]() -> Async<void> {
    Listening server = co_await listen(nullptr);
    Socket client = co_await connect("ws://" + server.at.to_string() + "/chat");
    co_await talk(std::move(client));
    server.serving.abort();
  }());
}

TEST(WebSocketEnds, OverTls) {
  const test::Authority authority("Test CA");
  const test::Issued issued = authority.issue(test::For("localhost"));
  const auto config = tls::ServerConfig::pem_text(issued.certificate, issued.key);
  Runtime rt = Runtime::builder().worker_threads(2).build();
  const auto over_tls = [&]() -> Async<void> {
    Listening server = co_await listen(&config);
    const tls::Connector connector(tls::ClientConfig().trust_pem(authority.pem()));
    auto tcp = co_await net::TcpStream::connect(server.at);
    auto stream = co_await connector.connect(std::move(tcp), "localhost");
    Socket client = co_await connect(std::move(stream), "localhost", "/chat");
    co_await talk(std::move(client));
    // Of an authority that the system does not know.
    const std::string url = "wss://127.0.0.1:" + std::to_string(server.at.port()) + "/chat";
    const auto unknown = co_await connect(url).result();
    EXPECT_FALSE(unknown);
    server.serving.abort();
  };
  rt.block_on(over_tls());
}

}  // namespace
}  // namespace rouse::http::ws
