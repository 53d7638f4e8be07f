// http::Client against nginx: bodies of all sizes, ranges, gzip, connections that nginx closes.
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/http.hpp"
#include "rouse/rouse.hpp"

#include "counterparts/nginx.hpp"

namespace rouse::test {
namespace {

class HttpClientAndNginx : public WithNginx {
 protected:
  [[nodiscard]] std::string url(const std::string& file) const {
    return "http://" + nginx_address() + '/' + file;
  }
};

Async<std::string> fetch(http::Client client, std::string url) {
  auto reply = co_await client.get(url).send();
  reply.check();
  co_return co_await reply.text();
}

TEST_F(HttpClientAndNginx, FilesComeWhole) {
  if (IsSkipped()) return;
  const http::Client client;
  for (const std::size_t size : {0UL, 1UL, 1000UL, 100'000UL, 3'000'000UL}) {
    const std::string content(size, 'x');
    serve_file("file", content);
    EXPECT_TRUE(run(fetch(client, url("file"))) == content) << size;
  }
  EXPECT_EQ(client.metrics().opened, 1U);
}

TEST_F(HttpClientAndNginx, ManyTasksShareItsConnections) {
  if (IsSkipped()) return;
  serve_file("file", "content");
  const http::Client client = http::Client::builder().connections_per_host(8).build();
  const auto fetch_often = [](http::Client own, std::string from) -> Async<void> {
    for (int i = 0; i < 50; ++i) {
      const std::string text = co_await fetch(own, from);
      EXPECT_EQ(text, "content");
    }
  };
  const auto all = [&]() -> Async<void> {
    std::vector<JoinHandle<void>> tasks;
    for (int i = 0; i < 32; ++i) tasks.push_back(spawn(fetch_often, client, url("file")));
    for (auto& task : tasks) co_await task;
  };
  run(all());
  EXPECT_LE(client.metrics().opened, 8U);
  EXPECT_EQ(client.metrics().requests, 1600U);
}

TEST_F(HttpClientAndNginx, StatusesHeadersAndRedirects) {
  if (IsSkipped()) return;
  serve_file("file", "0123456789");
  std::filesystem::create_directory(files().file("folder"));
  serve_file("folder/index.html", "index");
  const http::Client client;
  const auto ask = [&]() -> Async<void> {
    auto missing = co_await client.get(url("missing")).send();
    EXPECT_EQ(missing.status(), http::Status::not_found);
    auto head = co_await client.head(url("file")).send();
    EXPECT_EQ(head.header("Content-Length"), "10");
    EXPECT_EQ(co_await head.text(), "");
    auto part = co_await client.get(url("file")).header("Range", "bytes=2-4").send();
    EXPECT_EQ(part.status(), http::Status::partial_content);
    EXPECT_EQ(co_await part.text(), "234");
    auto etag = std::string(*part.header("ETag"));
    auto same = co_await client.get(url("file")).header("If-None-Match", etag).send();
    EXPECT_EQ(same.status(), http::Status::not_modified);
    auto index = co_await client.get(url("folder")).send();
    EXPECT_EQ(index.url(), url("folder/"));
    EXPECT_EQ(co_await index.text(), "index");
    auto refused = co_await client.post(url("file")).body(std::string(2'000'000, 'x')).send();
    EXPECT_EQ(refused.status(), http::Status::content_too_large);
  };
  run(ask());
}

}  // namespace
}  // namespace rouse::test
