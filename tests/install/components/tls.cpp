// A handshake with somebody who does not speak TLS: it needs rouse, its component, and OpenSSL.
#include <rouse/tls.hpp>

#include <rouse/rouse.hpp>

rouse::Async<int> async_main() {
  auto [near, far] = rouse::io::duplex(4096);
  co_await far.write_all("HTTP/1.1 400 Bad Request\r\n\r\n");
  const rouse::tls::Connector connector;
  const auto peer = co_await connector.connect(std::move(near), "localhost").result();
  co_return peer.error() == rouse::tls::Error::not_tls ? 0 : 1;
}

int main() { return rouse::run(async_main); }
