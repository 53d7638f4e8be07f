// Fetches 1,000 pages, 64 at a time, from a server in the same program; a line tells how far it is.
// usage: http_fetch [PAGES]
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>

#include <rouse/http.hpp>
#include <rouse/rouse.hpp>

namespace {

namespace http = rouse::http;
using namespace std::chrono_literals;

// NOLINTNEXTLINE(*-avoid-reference-coroutine-parameters): a request outlives its handler
rouse::Async<http::Response> page(http::Request& request) {
  co_await rouse::sleep(2ms);  // it is somewhere else
  const std::string& number = request.path_parameter("number");
  if (number.ends_with("99")) co_return http::Response(http::Status::not_found);
  co_return http::Response::text(std::string(1000, 'x') + number);
}

struct Fetched {
  Fetched(bool is_there, std::size_t bytes) : is_found(is_there), size(bytes) {}
  bool is_found;
  std::size_t size;
};

// [fetch]
rouse::Async<Fetched> fetch(http::Client client, std::string url) {
  auto reply = co_await client.get(url).timeout(5s).send();
  if (reply.status() == http::Status::not_found) co_return Fetched(false, 0);
  reply.check();
  const std::string text = co_await reply.text();
  co_return Fetched(true, text.size());
}

rouse::Async<void> fetch_all(http::Client client, std::string base, int pages) {
  auto numbers = rouse::stream::iter(std::views::iota(0, pages));
  auto fetches = rouse::stream::map(
      std::move(numbers), [&](int number) { return fetch(client, base + std::to_string(number)); });
  auto results = rouse::stream::buffer_unordered(std::move(fetches), 64);

  int done = 0;
  int missing = 0;
  std::size_t bytes = 0;
  while (auto fetched = co_await rouse::stream::next(results)) {
    missing += fetched->is_found ? 0 : 1;
    bytes += fetched->size;
    if (++done % 100 == 0) std::fprintf(stderr, "\r%4d of %d pages", done, pages);
  }
  std::fprintf(stderr, "\n");
  std::printf("%zu bytes; %d pages are not there\n", bytes, missing);
}
// [/fetch]

rouse::Async<void> async_main(int pages) {
  http::Router routes;
  routes.get("/page/{number}", page);
  auto server = co_await http::Server::bind("127.0.0.1:0");
  const std::string base = "http://" + server.local_addr().to_string() + "/page/";
  rouse::sync::CancellationToken stop;
  auto serving = rouse::spawn(
      [](http::Server own, http::Router own_routes, rouse::sync::CancellationToken end)
          -> rouse::Async<void> { co_await own.serve(std::move(own_routes), end.cancelled()); },
      std::move(server), std::move(routes), stop);

  const http::Client client;
  co_await fetch_all(client, base, pages);
  std::printf("over at most 64 connections: %s\n", client.metrics().opened <= 64 ? "yes" : "no");
  stop.cancel();
  co_await std::move(serving);
}

}  // namespace

int main(int argc, char** argv) try {
  return rouse::run(async_main, argc > 1 ? std::stoi(argv[1]) : 1000);
} catch (const std::logic_error& error) {
  std::fprintf(stderr, "usage: http_fetch [PAGES] (%s)\n", error.what());
  return 2;
}
