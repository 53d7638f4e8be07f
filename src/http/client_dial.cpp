#include "http/client_dial.hpp"

#include <array>
#include <string>
#include <system_error>
#include <vector>

#include "rouse/http/client_error.hpp"
#include "rouse/io/error.hpp"
#include "rouse/net/lookup_host.hpp"
#include "rouse/time/timeout.hpp"
#include "rouse/tls/client_config.hpp"
#include "rouse/tls/connector.hpp"

#include "http/write_head.hpp"
#include "net/connect.hpp"

namespace rouse::http {
namespace {

[[noreturn]] void fail(std::error_code error, const UrlOrigin& origin) {
  throw std::system_error(error, "http::Client: connecting to " + origin.host_and_port());
}

/// One for all clients that were told nothing else: to read the system's authorities takes a while.
const tls::Connector& usual_connector() {
  static const tls::Connector connector(tls::ClientConfig().alpn({"http/1.1"}));
  return connector;
}

/// An IPv4-mapped address is connected to over IPv4, so it is judged as what it means.
net::SocketAddr canonical(const net::SocketAddr& address) {
  if (!address.ip().is_ipv4_mapped()) return address;
  return net::SocketAddr(address.ip().to_canonical(), address.port());
}

AsyncResult<io::AnyConnection> reach(RefPtr<SharedSettings> settings, UrlOrigin origin) {
  const net::Endpoint endpoint(origin.host, origin.port);
  if (settings->connect) co_return co_await settings->connect(endpoint);
  auto addresses = co_await net::lookup_host(endpoint).result();
  if (!addresses) fail(addresses.error(), origin);
  if (settings->is_allowed) {
    std::erase_if(*addresses, [&](const net::SocketAddr& address) {
      return !settings->is_allowed(canonical(address));
    });
    if (addresses->empty()) fail(ClientError::address_refused, origin);
  }
  auto stream = co_await net::connect_to_first(*std::move(addresses)).result();
  if (!stream) fail(stream.error(), origin);
  stream->set_nodelay(true);
  co_return io::AnyConnection(*std::move(stream));
}

AsyncResult<io::AnyConnection> secure(RefPtr<SharedSettings> settings, io::AnyConnection stream,
                                      UrlOrigin origin) {
  const tls::Connector connector = settings->tls ? *settings->tls : usual_connector();
  const std::string server = origin.host_and_port();  // sessions are kept by it
  auto secured = co_await connector.connect(std::move(stream), server);
  co_return io::AnyConnection(std::move(secured));
}

AsyncResult<io::AnyConnection> open_tunnel(io::AnyConnection proxy, UrlOrigin origin,
                                           std::string credentials) {
  Headers headers;
  if (!credentials.empty()) headers.set("Proxy-Authorization", basic_credentials(credentials));
  std::string request;
  const std::string host = origin.host_and_port();
  write_request_head(request, Method::connect, host, host, headers, Framing());
  co_await proxy.write_all(request);
  co_await proxy.flush();

  Parser parser(Parser::Kind::responses);
  parser.expect_no_body();
  std::array<std::byte, 1024> room{};
  std::size_t left = 0;  // behind the head; a server of TLS does not speak first
  while (parser.stage() == Parser::Stage::head) {
    const std::span<std::byte> buf(room);
    const std::size_t n = co_await proxy.read(buf);
    if (n == 0) fail(io::Error::unexpected_eof, origin);
    left = n - parser.parse_head(buf.first(n));
  }
  if (parser.stage() == Parser::Stage::failed || left != 0 || !is_success(parser.head().status)) {
    std::string what = "http::Client: a tunnel to " + host;
    if (parser.stage() != Parser::Stage::failed) {
      what += ", answered with " + std::to_string(number_of(parser.head().status));
    }
    throw std::system_error(make_error_code(ClientError::proxy_refused), what);
  }
  co_return std::move(proxy);
}

AsyncResult<io::AnyConnection> dial(RefPtr<SharedSettings> settings, UrlOrigin origin) {
  if (!settings->proxy) {
    auto stream = co_await reach(settings, origin);
    if (!origin.is_secure) co_return std::move(stream);
    co_return co_await secure(settings, std::move(stream), origin);
  }
  const Url proxy = *settings->proxy;
  auto stream = co_await reach(settings, proxy.origin);
  if (proxy.origin.is_secure) {
    auto secured = co_await secure(settings, std::move(stream), proxy.origin);
    stream = std::move(secured);
  }
  if (!origin.is_secure) co_return std::move(stream);
  auto tunnel = co_await open_tunnel(std::move(stream), origin, proxy.credentials);
  co_return co_await secure(settings, std::move(tunnel), origin);
}

AsyncResult<ClientConnection> dial_in_time(RefPtr<SharedSettings> settings, UrlOrigin origin) {
  try {
    auto stream = co_await timeout(settings->connect_timeout, dial(settings, origin));
    co_return ClientConnection(std::move(stream));
  } catch (const TimedOut&) {
    fail(std::make_error_code(std::errc::timed_out), origin);
  }
}

}  // namespace

AsyncResult<ClientConnection> OriginManager::connect() const {
  return dial_in_time(settings_, origin_);
}

}  // namespace rouse::http
