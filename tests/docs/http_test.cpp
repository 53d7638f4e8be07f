// The code in docs/guide/19_http.md.
#include "rouse/http.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/exec/spawner.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/runtime/runtime.hpp"

namespace {

using namespace std::chrono_literals;
namespace http = rouse::http;
namespace io = rouse::io;

// [routes]
rouse::Async<http::Response> greet(http::Request& request) {
  co_return http::Response::text("hello, " + request.path_parameter("name"));
}

http::Router make_routes() {
  http::Router routes;
  routes.get("/hello/{name}", greet);
  routes.get("/files/{rest...}", http::static_files("public"));
  routes
      .post("/import",
            [](http::Request&) -> rouse::Async<http::Response> {
              co_return http::Response(http::Status::accepted);
            })
      .time_limit(10min);
  routes.otherwise([](http::Request& request) -> rouse::Async<http::Response> {
    co_return http::Response::text("nothing at " + request.path()).status(http::Status::not_found);
  });
  return routes;
}
// [/routes]

// [bodies]
rouse::Async<http::Response> count_lines(http::Request& request) {
  std::size_t lines = 0;
  std::array<char, 4096> buf;
  while (const std::size_t n = co_await request.body().read(buf)) {
    lines += static_cast<std::size_t>(std::count(buf.begin(), buf.begin() + n, '\n'));
  }
  co_return http::Response::json("{\"lines\":" + std::to_string(lines) + "}");
}

rouse::Async<http::Response> send_back(http::Request& request) {
  // Sent as it comes: neither of the two peers' speeds matters, nor how long it is.
  co_return http::Response(http::Status::ok, "text/plain", std::move(request.body()));
}
// [/bodies]

// [upgrade]
rouse::Async<void> shout(io::AnyConnection peer) {
  std::array<char, 1> c;
  while (co_await peer.read(c) != 0) {
    c[0] = static_cast<char>(std::toupper(c[0]));
    co_await peer.write_all(c);
  }
}

rouse::Async<http::Response> start_shouting(http::Request& request) {
  co_return http::upgrade(request, "shout", shout);
}
// [/upgrade]

// [test]
rouse::Async<std::string> ask(http::Router routes, std::string request) {
  auto [client, server] = io::duplex(4096);
  auto serving = rouse::spawn(http::serve_connection(std::move(server), std::move(routes)));
  co_await client.write_all(request);
  co_await client.shutdown();
  std::string answer = co_await client.read_to_string();
  co_await std::move(serving);
  co_return answer;
}
// [/test]

std::string said(http::Router routes, std::string request) {
  rouse::Runtime rt = rouse::Runtime::builder().current_thread().build();
  return rt.block_on(ask(std::move(routes), std::move(request)));
}

TEST(HttpGuide, RoutesAndBodiesAreAnswered) {
  const std::string hello = said(make_routes(), "GET /hello/you HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(hello.ends_with("\r\n\r\nhello, you")) << hello;
  const std::string none = said(make_routes(), "GET /none HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(none.ends_with("nothing at /none")) << none;
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\na\nb\n";
  EXPECT_TRUE(said(count_lines, post).ends_with("{\"lines\":2}"));
  EXPECT_TRUE(said(send_back, post).ends_with("\r\n\r\na\nb\n"));
}

TEST(HttpGuide, AnotherProtocolTakesOver) {
  const std::string text = said(start_shouting,
                                "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n"
                                "Upgrade: shout\r\n\r\nhey");
  EXPECT_TRUE(text.ends_with("\r\n\r\nHEY")) << text;
}

}  // namespace
