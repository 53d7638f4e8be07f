// A rouse::http server on loopback, for other people's programs to talk to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rouse/http.hpp"

#include "counterparts/support.hpp"

namespace rouse::test {

using namespace std::chrono_literals;

class HttpCounterpart : public Counterpart {
 protected:
  void TearDown() override {
    stop_.cancel();
    for (JoinHandle<net::Served>& each : serving_) {
      const net::Served served = run(std::move(each));
      EXPECT_EQ(served.failed, 0U);
      EXPECT_EQ(served.aborted, 0U);
    }
  }

  /// Serves until the test ends, at the port that it gives.
  std::uint16_t serve(http::Router routes, http::ServerOptions options = http::ServerOptions(),
                      const std::optional<tls::ServerConfig>& tls = std::nullopt) {
    options.stop = stop_;
    options.drain_time = 10s;
    auto server = run(http::Server::bind("127.0.0.1:0", std::move(options)));
    if (tls) server.tls(*tls);
    const std::uint16_t port = server.local_addr().port();
    serving_.push_back(rt.spawn(answer, std::move(server), std::move(routes)));
    return port;
  }

  static std::string url(std::uint16_t port, const std::string& target) {
    return "http://" + text_of(port) + target;
  }

 private:
  static Async<net::Served> answer(http::Server server, http::Router routes) {
    co_return co_await server.serve(std::move(routes));
  }

  sync::CancellationToken stop_;
  std::vector<JoinHandle<net::Served>> serving_;
};

/// All that the other end says to these bytes, until it closes the connection. What it thinks of
/// the connection besides does not matter.
inline Async<std::string> all_said_to(std::uint16_t port, std::string bytes) {
  std::string said;
  auto stream = co_await net::TcpStream::connect(text_of(port)).result();
  if (!stream) co_return said;
  const auto sent = co_await stream->write_all(bytes).result();
  (void)sent;
  const auto all = co_await stream->read_to_end(said).result();
  (void)all;
  co_return said;
}

}  // namespace rouse::test
