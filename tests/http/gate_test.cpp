// A gate that cuts a connection at each byte of an exchange, either way: what was answered is whole
// or has an error behind it, no handler stays behind, and the next client does not notice.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/net/tcp_stream.hpp"
#include "rouse/stream.hpp"

#include "http/support.hpp"

namespace rouse::http {
namespace {

const std::string four_requests =
    "GET /pieces HTTP/1.1\r\nHost: a\r\n\r\n"
    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5;x=y\r\nhello\r\n7\r\n, world\r\n0\r\nX: y\r\n\r\n"
    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc"
    "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// Handlers that hold `alive` for as long as they, or the bodies of their answers, are there.
Router routes_that_hold(const std::shared_ptr<int>& alive) {
  Router routes;
  routes.get("/pieces", [alive](Request&) -> Async<Response> {
    const auto piece = [held = alive](std::string text) -> Async<std::string> {
      co_await yield_now();
      co_return text;
    };
    auto pieces = stream::then(stream::iter(std::vector<std::string>{"one", "two"}), piece);
    co_return Response(Status::ok, "text/plain", Body::chunks(std::move(pieces)));
  });
  routes.post("/echo", [alive](Request& request) -> Async<Response> {
    const auto held = alive;
    std::string text = co_await request.body().text();
    co_await yield_now();
    co_return Response::text(text);
  });
  routes.get("/last", hello);
  return routes;
}

enum class Cut { goes, ends_its_half, falls_silent };

/// What a client hears that sends no more than some bytes of the exchange.
Async<std::string> heard_if_cut(Router routes, std::size_t after, Cut cut) {
  // One that is gone does not wait until there is room.
  Talk talk(std::move(routes), ServerOptions(), cut == Cut::goes ? 4096 : 11);
  std::string heard;
  if (cut == Cut::goes) {
    co_await talk.send(four_requests.substr(0, after));
    co_await yield_now();
    const io::DuplexStream gone = std::move(talk.client);
  } else {
    auto [reader, writer] = io::split(std::move(talk.client));
    const auto write = [](io::WriteHalf<io::DuplexStream> to, std::string text,
                          bool ends) -> Async<void> {
      const auto sent = co_await to.write_all(text).result();
      if (sent && ends) co_await to.shutdown();
      co_await sleep(1h);
    };
    auto writing =
        spawn(write, std::move(writer), four_requests.substr(0, after), cut != Cut::falls_silent);
    const auto all = co_await reader.read_to_end(heard).result();
    EXPECT_TRUE(all);
    writing.abort();
  }
  co_await std::move(talk.server);
  // Whether it is asked to go on depends on what it sent already.
  const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  if (const std::size_t at = heard.find(go_on); at != std::string::npos)
    heard.erase(at, go_on.size());
  co_return without_dates(std::move(heard));
}

/// Reads so many bytes of the answers, and goes.
Async<void> leave_after(Router routes, std::size_t bytes) {
  Talk talk(std::move(routes), ServerOptions(), 11);
  {
    auto [reader, writer] = io::split(std::move(talk.client));
    const auto write = [](io::WriteHalf<io::DuplexStream> to) -> Async<void> {
      const auto sent = co_await to.write_all(four_requests).result();
      (void)sent;
      co_await sleep(1h);
    };
    auto writing = spawn(write, std::move(writer));
    std::string heard(bytes, '\0');
    co_await reader.read_exact(heard);
    writing.abort();
  }
  co_await std::move(talk.server);
}

/// Some of the answers, whole, and maybe one that says what was wrong.
void expect_is_fair(const std::string& heard, const std::string& all, std::size_t after) {
  std::size_t same = 0;
  while (same < heard.size() && same < all.size() && heard[same] == all[same]) ++same;
  if (same == heard.size()) return;
  const std::size_t begin = heard.rfind("HTTP/1.1 ", same);
  ASSERT_NE(begin, std::string::npos) << heard;
  const std::string error = heard.substr(begin);
  EXPECT_EQ(error[9], '4') << after << ": " << error;
  EXPECT_EQ(count_of(error, "Connection: close\r\n"), 1U) << after << ": " << error;
  EXPECT_EQ(count_of(error, "HTTP/1.1 "), 1U) << after << ": " << error;
}

TEST(HttpGate, WhateverAClientSendsBeforeItIsCutOffNothingStaysBehind) {
  run_paused([]() -> Async<void> {
    const auto alive = std::make_shared<int>();
    const Router routes = routes_that_hold(alive);
    const long at_rest = alive.use_count();
    const std::string all = co_await heard_if_cut(routes, four_requests.size(), Cut::falls_silent);
    EXPECT_EQ(count_of(all, "HTTP/1.1 200 OK\r\n"), 4U) << all;
    EXPECT_TRUE(all.ends_with("hello, /last\n")) << all;
    for (const Cut cut : {Cut::goes, Cut::ends_its_half, Cut::falls_silent}) {
      for (std::size_t after = 0; after <= four_requests.size(); ++after) {
        const std::string heard = co_await heard_if_cut(routes, after, cut);
        expect_is_fair(heard, all, after);
        EXPECT_EQ(alive.use_count(), at_rest) << after;
      }
    }
    const std::string again =
        co_await heard_if_cut(routes, four_requests.size(), Cut::falls_silent);
    EXPECT_EQ(again, all);
  });
}

TEST(HttpGate, WhateverAClientHearsBeforeItGoesNothingStaysBehind) {
  run_paused([]() -> Async<void> {
    const auto alive = std::make_shared<int>();
    const Router routes = routes_that_hold(alive);
    const long at_rest = alive.use_count();
    const std::string all = co_await heard_if_cut(routes, four_requests.size(), Cut::falls_silent);
    const std::string date = "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n";
    for (std::size_t bytes = 0; bytes < all.size() + 4 * date.size(); ++bytes) {
      co_await leave_after(routes, bytes);
      EXPECT_EQ(alive.use_count(), at_rest) << bytes;
    }
    const std::string again =
        co_await heard_if_cut(routes, four_requests.size(), Cut::falls_silent);
    EXPECT_EQ(again, all);
  });
}

Async<net::Served> serve_until_stopped(Server server, Router routes) {
  co_return co_await server.serve(std::move(routes));
}

Async<void> cut_at_each_byte(net::SocketAddr at, bool resets) {
  for (std::size_t after = 0; after <= four_requests.size(); ++after) {
    auto client = co_await net::TcpStream::connect(at);
    co_await client.write_all(four_requests.substr(0, after));
    if (resets) client.set_linger(0s);
  }
}

TEST(HttpGate, AServerMindsNoConnectionThatIsClosedOrResetAtAnyByte) {
  Runtime rt = Runtime::builder().worker_threads(2).build();
  const auto alive = std::make_shared<int>();
  const Router routes = routes_that_hold(alive);
  const long at_rest = alive.use_count();
  const auto test = [&]() -> Async<void> {
    ServerOptions options;
    const sync::CancellationToken stop = options.stop;
    auto server = co_await Server::bind("127.0.0.1:0", options);
    const net::SocketAddr at = server.local_addr();
    auto serving = spawn(serve_until_stopped, std::move(server), routes);
    co_await cut_at_each_byte(at, false);
    co_await cut_at_each_byte(at, true);
    auto client = co_await net::TcpStream::connect(at);
    co_await client.write_all(four_requests);
    const std::string heard = co_await client.read_to_string();
    EXPECT_EQ(count_of(heard, "HTTP/1.1 200 OK\r\n"), 4U) << heard;
    stop.cancel();
    const net::Served served = co_await std::move(serving);
    EXPECT_EQ(served.failed, 0U);
    EXPECT_EQ(served.aborted, 0U);
    EXPECT_GT(served.accepted, four_requests.size());
  };
  rt.block_on(test());
  EXPECT_EQ(alive.use_count(), at_rest);
}

}  // namespace
}  // namespace rouse::http
