// The code in docs/guide/20_http_client.md that is in no example.
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/http.hpp"
#include "rouse/rouse.hpp"

namespace client_guide {
namespace {

using namespace std::chrono_literals;
namespace http = rouse::http;

// [fetch]
rouse::Async<std::string> fetch(http::Client client, std::string url) {
  auto reply = co_await client.get(url).timeout(2s).send();
  reply.check();  // a status is no error until you say so
  co_return co_await reply.text();
}
// [/fetch]

// [post]
rouse::Async<bool> store(http::Client client, std::string url, std::string json) {
  auto request = client.put(url).header("Content-Type", "application/json");
  request.bearer_auth("a-token").body(std::move(json));
  const auto reply = co_await request.send();
  co_return reply.status() == http::Status::created;
}
// [/post]

// [download]
rouse::Async<std::size_t> download(http::Client client, std::string url, std::string path) {
  auto reply = co_await client.get(url).no_timeout().send();
  reply.check();
  auto file = co_await rouse::fs::File::create(path);
  const std::size_t size = co_await rouse::io::copy(reply, file);
  co_await file.flush();
  co_return size;
}
// [/download]

// [upload]
rouse::Async<void> upload(http::Client client, std::string url, std::string path) {
  auto file = co_await rouse::fs::File::open(path);
  auto body = http::Body::stream(std::move(file));  // in chunks; with a length: stream(file, size)
  auto reply = co_await client.put(url).body(std::move(body)).send();
  reply.check();
}
// [/upload]

// [settings]
http::Client make_client() {
  return http::Client::builder()
      .connect_timeout(1s)       // look up, connect, handshake; default: 5 s
      .timeout(10s)              // all of a request, its answer's last byte too; default: 30 s
      .connections_per_host(16)  // default: 64; more requests wait in line
      .idle_timeout(5s)          // default: 15 s
      .body_limit(1024 * 1024)   // of text() and bytes(); default: 16 MiB
      .header("User-Agent", "mine/1.0")
      .build();
}
// [/settings]

// [allow]
http::Client for_urls_of_users() {
  return http::Client::builder()
      .allow_address([](const rouse::net::SocketAddr& address) { return address.ip().is_global(); })
      .build();
}
// [/allow]

// [tls]
http::Client for_our_hosts(const std::string& authority_pem) {
  const auto config = rouse::tls::ClientConfig().trust_pem(authority_pem);
  return http::Client::builder().tls(config).build();
}
// [/tls]

// [errors]
rouse::Async<std::optional<std::string>> try_fetch(http::Client client, std::string url) {
  auto reply = co_await client.get(url).send().result();
  if (!reply) {
    if (reply.error() == std::errc::timed_out) co_return "too late";
    std::printf("%s: %s\n", url.c_str(), reply.error().message().c_str());
    co_return std::nullopt;
  }
  co_return co_await reply->text();
}
// [/errors]

rouse::Async<http::Response> answer(http::Request& request) {
  if (request.method() == http::Method::put) co_return http::Response(http::Status::created);
  co_return http::Response::text("a page");
}

/// Runs `program(url)` beside a server.
template <class Program>
void run_with_server(Program program) {
  rouse::run([&]() -> rouse::Async<void> {
    auto server = co_await http::Server::bind("127.0.0.1:0");
    const std::string url = "http://" + server.local_addr().to_string() + "/page";
    http::Router routes;
    routes.get("/page", answer);
    routes.put("/page", answer);
    auto serving = rouse::spawn(
        [](http::Server own, http::Router own_routes) -> rouse::Async<void> {
          co_await own.serve(std::move(own_routes));
        },
        std::move(server), std::move(routes));
    co_await program(url);
    serving.abort();
  });
}

TEST(HttpClientGuide, RequestsAndBodies) {
  run_with_server([](std::string url) -> rouse::Async<void> {
    const http::Client client = make_client();
    EXPECT_EQ(co_await fetch(client, url), "a page");
    EXPECT_TRUE(co_await store(client, url, "{}"));
    const std::string path = ::testing::TempDir() + "rouse_client_guide";
    EXPECT_EQ(co_await download(client, url, path), 6U);
    co_await upload(client, url, path);
    co_await rouse::fs::remove_file(path);
    EXPECT_EQ(co_await try_fetch(client, url), "a page");
    const auto refused = co_await for_urls_of_users().get(url).send().result();
    EXPECT_EQ(refused.error(), http::ClientError::address_refused);
  });
}

TEST(HttpClientGuide, OurAuthority) {
  EXPECT_THROW((void)for_our_hosts("no certificate"), std::system_error);
}

}  // namespace
}  // namespace client_guide
