// Servers for tests of the client: they say what a test wants, byte by byte, at the other end of a
// duplex.
#pragma once

#include <charconv>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/http.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/runtime/join_set.hpp"
#include "rouse/time/sleep.hpp"

#include "http/support.hpp"

namespace rouse::http {

/// The next request: its head, and a body that Content-Length counts. Empty at the end.
inline Async<std::string> read_request(io::DuplexStream& from) {
  std::string text;
  std::size_t size = std::string::npos;
  while (text.size() < size) {
    char c = 0;
    const auto n = co_await from.read({&c, 1}).result();
    if (!n || *n == 0) co_return text;
    text += c;
    if (size != std::string::npos || !text.ends_with("\r\n\r\n")) continue;
    size = text.size();
    const std::size_t field = text.find("Content-Length: ");
    if (field == std::string::npos) continue;
    std::size_t length = 0;
    std::from_chars(text.data() + field + 16, text.data() + text.size(), length);
    size += length;
  }
  co_return text;
}

/// What a scripted server has seen.
struct Seen {
  std::vector<std::string> requests;
  std::vector<std::string> hosts;  // that were connected to
  int connections = 0;
  int alive = 0;  // of these
};

/// A server that says what a test wants.
class Script {
 public:
  /// `serve(end, seen, number)` is run for each connection: number 0, 1, ...
  using Serve = std::function<Async<void>(io::DuplexStream end, Seen& seen, int number)>;

  explicit Script(Serve serve) : shared_(std::make_shared<Shared>(std::move(serve))) {}
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  /// Answers one request after another, on any connection, with these texts; the last one again and
  /// again. Behind one that is empty, or that ends with "<close>", it closes.
  static Serve answering(std::vector<std::string> answers) {
    return
        [left = std::make_shared<std::vector<std::string>>(std::move(answers))](
            io::DuplexStream end, Seen& seen, int) { return answer(std::move(end), seen, left); };
  }

  /// A client whose hosts are all this server. Must not outlive it.
  [[nodiscard]] ClientBuilder builder() {
    ClientBuilder made;
    made.connector([this](net::Endpoint to) { return connect(to); });
    return made;
  }
  [[nodiscard]] Client client() { return builder().build(); }

  /// What it has seen so far.
  Seen* operator->() noexcept { return &shared_->seen; }

 private:
  /// Also of connections that are still to end when the test is over.
  struct Shared {
    explicit Shared(Serve its_serve) : serve(std::move(its_serve)) {}
    Serve serve;
    Seen seen;
  };

  AsyncResult<io::AnyConnection> connect(const net::Endpoint& to) {
    shared_->seen.hosts.push_back(to.to_string());
    auto [near, far] = io::duplex(65536);
    tasks_.spawn(run, shared_, std::move(far), shared_->seen.connections++);
    return given(io::AnyConnection(std::move(near)));
  }
  static AsyncResult<io::AnyConnection> given(io::AnyConnection end) { co_return std::move(end); }
  static Async<void> run(std::shared_ptr<Shared> shared, io::DuplexStream end, int number) {
    ++shared->seen.alive;
    try {
      co_await shared->serve(std::move(end), shared->seen, number);
    } catch (const std::system_error&) {  // the client is gone
    }
    --shared->seen.alive;
  }
  static Async<void> answer(io::DuplexStream end, Seen& seen,
                            std::shared_ptr<std::vector<std::string>> answers) {
    for (;;) {
      std::string request = co_await read_request(end);
      if (request.empty()) co_return;
      seen.requests.push_back(std::move(request));
      std::string text = answers->front();
      if (answers->size() > 1) answers->erase(answers->begin());
      const bool closes = text.empty() || text.ends_with("<close>");
      if (text.ends_with("<close>")) text.resize(text.size() - 7);
      const auto sent = co_await end.write_all(text).result();
      if (closes || !sent) co_return;
    }
  }

  std::shared_ptr<Shared> shared_;
  JoinSet<void> tasks_;
};

inline std::string ok(std::string_view body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

/// "200 text", or the error.
inline Async<std::string> outcome_of(ClientRequest request) {
  try {
    auto reply = co_await request.send();
    std::string text = std::to_string(number_of(reply.status())) + ' ';
    text += co_await reply.text();
    co_return text;
  } catch (const std::system_error& error) {
    co_return error.code().category().name() + std::string(": ") + error.code().message();
  }
}
inline Async<std::error_code> error_of(ClientRequest request) {
  auto reply = co_await request.send().result();
  if (!reply) co_return reply.error();
  const auto text = co_await reply->text().result();
  co_return text ? std::error_code() : text.error();
}

}  // namespace rouse::http
