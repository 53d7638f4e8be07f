// Server: over TCP, Unix sockets and TLS, with many connections, and to its end.
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/future/join_all.hpp"
#include "rouse/io/sources.hpp"
#include "rouse/net/unix_stream.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/tls.hpp"

#include "http/support.hpp"
#include "net/support.hpp"
#include "tls/support.hpp"

namespace rouse::http {
namespace {

class HttpTcp : public net::OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, HttpTcp, net::both_kinds(), net::name_of);

/// A server that runs until it is told to stop.
class Running {
 public:
  static Async<Running> start(Router routes, net::Endpoint at = net::Endpoint("127.0.0.1:0"),
                              ServerOptions options = ServerOptions()) {
    const sync::CancellationToken stop = options.stop;
    auto server = co_await Server::bind(std::move(at), std::move(options));
    co_return Running(std::move(server), std::move(routes), stop);
  }
  Running(Server server, Router routes, sync::CancellationToken token)
      : at(server.local_addr()),
        stop(std::move(token)),
        serving(spawn(run(std::move(server), std::move(routes)))) {}

  net::SocketAddr at;
  sync::CancellationToken stop;
  JoinHandle<net::Served> serving;

 private:
  static Async<net::Served> run(Server server, Router routes) {
    co_return co_await server.serve(std::move(routes));
  }
};

/// The answer to one request, whose length it says.
template <class S>
Async<std::string> exchange(S& stream, std::string request) {
  const auto sent = co_await stream.write_all(request).result();
  if (!sent) co_return "";
  co_await stream.flush();
  std::string text;
  std::size_t wanted = std::string::npos;
  while (text.size() < wanted) {
    std::array<char, 4096> buf;
    const auto n = co_await stream.read(buf).result();
    if (!n || *n == 0) co_return "";
    text.append(buf.data(), *n);
    const std::size_t end = text.find("\r\n\r\n");
    const std::size_t length = text.find("Content-Length: ");
    if (end == std::string::npos || length == std::string::npos) continue;
    wanted = end + 4 + std::stoul(text.substr(length + 16));
  }
  co_return text;
}

const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

TEST_P(HttpTcp, AnswersOverTcpAndKnowsThePeer) {
  run([]() -> Async<void> {
    const auto tell = [](Request& request) -> Async<Response> {
      co_return Response::text(request.peer()->to_string() + (request.is_secure() ? " s" : " p"));
    };
    auto running = co_await Running::start(tell);
    auto client = co_await net::TcpStream::connect(running.at);
    for (int i = 0; i < 3; ++i) {
      const std::string text = co_await exchange(client, get);
      EXPECT_TRUE(text.ends_with("\r\n\r\n" + client.local_addr().to_string() + " p")) << text;
      EXPECT_NE(text.find("\r\nDate: "), std::string::npos);
    }
    running.stop.cancel();
    const net::Served served = co_await std::move(running.serving);
    EXPECT_EQ(served.accepted, 1U);
    EXPECT_EQ(served.aborted, 0U);
  });
}

TEST_P(HttpTcp, AnswersOverAUnixSocket) {
  run([]() -> Async<void> {
    const std::string name = net::abstract_name();
    auto running = co_await Running::start(hello, "unix:" + name);
    auto client = co_await net::UnixStream::connect(name);
    const std::string text = co_await exchange(client, get);
    EXPECT_TRUE(text.ends_with("hello, /\n"));
    running.stop.cancel();
    co_await std::move(running.serving);
  });
}

TEST_P(HttpTcp, AnswersOverTls) {
  run([]() -> Async<void> {
    const auto tell = [](Request& request) -> Async<Response> {
      co_return Response::text(request.is_secure() ? "secure" : "open");
    };
    auto server = co_await Server::bind("127.0.0.1:0");
    server.tls(tls::ServerConfig::pem_text(test::localhost().certificate, test::localhost().key));
    const net::SocketAddr at = server.local_addr();
    sync::Notify stop;
    const auto serve = [](Server serving, Router routes, sync::Notify& until) -> Async<void> {
      co_await serving.serve(std::move(routes), until.notified());
    };
    auto serving = spawn(borrowed(serve(std::move(server), Router(tell), stop)));
    const tls::Connector connector(tls::ClientConfig().trust_pem(test::authority().pem()));
    auto tcp = co_await net::TcpStream::connect(at);
    auto client = co_await connector.connect(std::move(tcp), "localhost");
    for (int i = 0; i < 2; ++i) {
      const std::string text = co_await exchange(client, get);
      EXPECT_TRUE(text.ends_with("secure")) << text;
    }
    // Who speaks no TLS is let go.
    auto plain = co_await net::TcpStream::connect(at);
    co_await plain.write_all(get);
    const std::string nothing = co_await plain.read_to_string();
    EXPECT_EQ(nothing.find("HTTP"), std::string::npos);
    stop.notify_one();
    co_await std::move(serving);
  });
}

TEST_P(HttpTcp, AThousandIdleConnectionsDoNotMindTheOthersAndGoAtOnceAtTheEnd) {
  run([]() -> Async<void> {
    auto running = co_await Running::start(hello);
    std::vector<net::TcpStream> idle;
    for (int i = 0; i < 1000; ++i) {
      auto client = co_await net::TcpStream::connect(running.at);
      idle.push_back(std::move(client));
    }
    auto client = co_await net::TcpStream::connect(running.at);
    const std::string text = co_await exchange(client, get);
    EXPECT_TRUE(text.ends_with("hello, /\n"));
    const auto before = time::now();
    running.stop.cancel();
    const net::Served served = co_await std::move(running.serving);
    EXPECT_LT(time::now() - before, 10s);
    EXPECT_EQ(served.accepted, 1001U);
    EXPECT_EQ(served.aborted, 0U);
  });
}

struct Counts {
  std::atomic<int> begun{0};
  std::atomic<int> answered{0};
};

/// Requests on one connection until the server closes it.
Async<void> ask_on(net::SocketAddr at, std::shared_ptr<Counts> counts) {
  auto client = co_await net::TcpStream::connect(at).result();
  if (!client) co_return;  // it came too late
  for (;;) {
    const std::string text = co_await exchange(*client, get);
    if (text.empty()) co_return;
    EXPECT_TRUE(text.ends_with("\r\n\r\ndone")) << text;
    ++counts->answered;
    if (text.find("Connection: close") != std::string::npos) co_return;
  }
}

TEST_P(HttpTcp, WhatWasBegunIsAnsweredWhenTheServerEndsUnderLoad) {
  run([]() -> Async<void> {
    const auto counts = std::make_shared<Counts>();
    const auto work = [counts](Request&) -> Async<Response> {
      ++counts->begun;
      co_await yield_now();
      co_return Response::text("done");
    };
    auto running = co_await Running::start(work);
    std::vector<JoinHandle<void>> clients;
    for (int i = 0; i < 16; ++i) clients.push_back(spawn(ask_on(running.at, counts)));
    while (counts->answered < 200) co_await yield_now();
    running.stop.cancel();
    const net::Served served = co_await std::move(running.serving);
    for (auto& client : clients) co_await std::move(client);
    EXPECT_EQ(served.aborted, 0U);
    EXPECT_EQ(served.failed, 0U);
    EXPECT_EQ(counts->begun, counts->answered);
  });
}

TEST_P(HttpTcp, AServerThatEndsLeavesAnotherOneWithTheSameOptionsAlone) {
  run([]() -> Async<void> {
    const ServerOptions options;
    auto first = co_await Server::bind("127.0.0.1:0", options);
    const sync::CancellationToken first_stops = first.options().stop;
    auto second = co_await Running::start(hello, net::Endpoint("127.0.0.1:0"), options);
    co_await first.serve(Router(hello), yield_now());
    EXPECT_TRUE(first_stops.is_cancelled());
    EXPECT_FALSE(options.stop.is_cancelled());
    auto client = co_await net::TcpStream::connect(second.at);
    const std::string text = co_await exchange(client, get);
    EXPECT_TRUE(text.ends_with("hello, /\n")) << text;
    options.stop.cancel();
    co_await std::move(second.serving);
  });
}

TEST_P(HttpTcp, NoMoreConnectionsThanAllowedAreServedAtATime) {
  run([]() -> Async<void> {
    ServerOptions options;
    options.max_connections = 1;
    auto running = co_await Running::start(hello, net::Endpoint("127.0.0.1:0"), options);
    auto second = std::optional<net::TcpStream>();
    {
      auto first = co_await net::TcpStream::connect(running.at);
      const std::string text = co_await exchange(first, get);
      EXPECT_FALSE(text.empty());
      auto waiting = co_await net::TcpStream::connect(running.at);
      second.emplace(std::move(waiting));
      co_await second->write_all(get);
      for (int i = 0; i < 10; ++i) {
        const std::string again = co_await exchange(first, get);
        EXPECT_FALSE(again.empty());
      }
      std::array<char, 1> buf{};
      EXPECT_FALSE(second->try_read(buf));
    }
    const std::string text = co_await exchange(*second, "");
    EXPECT_FALSE(text.empty());
    running.stop.cancel();
    co_await std::move(running.serving);
  });
}

TEST_P(HttpTcp, WhoDoesNotTakeItsAnswerIsResetSoThatTheSystemKeepsNoneOfIt) {
  run([]() -> Async<void> {
    ServerOptions options;
    options.progress_time = 100ms;
    options.progress_bytes = 1;
    const auto endless = [](Request&) -> Async<Response> {
      co_return Response(Status::ok, "text/plain", Body::stream(io::repeat(std::byte{'x'})));
    };
    auto running = co_await Running::start(endless, net::Endpoint("127.0.0.1:0"), options);
    auto client = co_await net::TcpStream::connect(running.at);
    co_await client.write_all(get);
    std::array<char, 1> buf;
    co_await client.read_exact(buf);
    // It waits for the answer that has begun, until that has had its time.
    running.stop.cancel();
    const net::Served served = co_await std::move(running.serving);
    EXPECT_EQ(served.aborted, 0U);
    std::string rest;
    const auto all = co_await client.read_to_end(rest).result();
    EXPECT_TRUE(!all && all.error() == std::errc::connection_reset);
  });
}

}  // namespace
}  // namespace rouse::http
