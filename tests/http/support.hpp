// What the tests of http share: a server behind an io::duplex, and what it says to bytes that come
// in pieces. The clock is paused: where nothing more comes, the server's time limits end it.
#pragma once

#include <chrono>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/http.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/io/split.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::http {

using namespace std::chrono_literals;

/// Without the Date fields, which are others each time.
inline std::string without_dates(std::string text) {
  for (std::size_t at = 0; (at = text.find("Date: ", at)) != std::string::npos;) {
    text.erase(at, text.find("\r\n", at) + 2 - at);
  }
  return text;
}

/// How often a text occurs in another.
inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos;
       at += part.size()) {
    ++count;
  }
  return count;
}

/// A client's end, and the task that serves the other one.
class Talk {
 public:
  explicit Talk(Router routes, ServerOptions options = ServerOptions(),
                std::size_t capacity = 65536)
      : Talk(io::duplex(capacity), std::move(routes), std::move(options)) {}

  io::DuplexStream client;
  JoinHandle<void> server;

  Async<void> send(std::string text) {
    const auto sent = co_await client.write_all(text).result();
    (void)sent;  // a server that has had enough does not listen
  }
  /// Until the server ends.
  Async<std::string> rest() {
    std::string text;
    const auto all = co_await client.read_to_end(text).result();
    (void)all;
    co_return without_dates(std::move(text));
  }
  /// Until this is there, which ends what is given.
  Async<std::string> until(std::string end) {
    std::string text;
    while (!text.ends_with(end)) {
      char c = 0;
      const std::size_t n = co_await client.read({&c, 1});
      if (n == 0) break;
      text += c;
    }
    co_return without_dates(std::move(text));
  }

 private:
  Talk(std::pair<io::DuplexStream, io::DuplexStream> ends, Router routes, ServerOptions options)
      : client(std::move(ends.first)),
        server(spawn(
            serve_connection(std::move(ends.second), std::move(routes), std::move(options)))) {}
};

/// All that a server says to these bytes, until it ends.
inline Async<std::string> answers_to(std::string bytes, Router routes,
                                     ServerOptions options = ServerOptions(),
                                     std::size_t capacity = 65536) {
  Talk talk(std::move(routes), std::move(options), capacity);
  auto [reader, writer] = io::split(std::move(talk.client));
  const auto write = [](io::WriteHalf<io::DuplexStream> to, std::string text) -> Async<void> {
    const auto sent = co_await to.write_all(text).result();
    (void)sent;
    co_await sleep(1h);  // an end would be a client that leaves
  };
  auto writing = spawn(write, std::move(writer), std::move(bytes));
  std::string text;
  const auto all = co_await reader.read_to_end(text).result();
  (void)all;
  writing.abort();
  co_return without_dates(std::move(text));
}

/// Runs a coroutine function on one thread with a paused clock.
template <class Fn>
auto run_paused(Fn&& fn) {
  Runtime rt = Runtime::builder().current_thread().start_paused().build();
  return rt.block_on(fn());
}
inline std::string answers(std::string bytes, Router routes,
                           ServerOptions options = ServerOptions(), std::size_t capacity = 65536) {
  return run_paused([&] { return answers_to(bytes, routes, options, capacity); });
}

inline Async<Response> hello(Request& request) {
  co_return Response::text("hello, " + request.path() + "\n");
}

}  // namespace rouse::http
