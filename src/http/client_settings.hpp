// ClientSettings: what a ClientBuilder was told.
#pragma once

#include <cstddef>
#include <optional>

#include "rouse/base/function.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/http/client.hpp"
#include "rouse/http/headers.hpp"
#include "rouse/io/any_connection.hpp"
#include "rouse/net/endpoint.hpp"
#include "rouse/net/socket_addr.hpp"
#include "rouse/tls/connector.hpp"

#include "http/url.hpp"

namespace rouse::http {

class ClientSettings {
 public:
  ClientSettings();

  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(5);
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(15);
  std::size_t connections_per_host = 64;
  std::size_t body_limit = std::size_t{16} * 1024 * 1024;
  unsigned max_redirects = 10;
  bool decodes = true;
  Headers headers;
  Function<void(const RequestOutcome&)> on_request;
  Function<bool(const net::SocketAddr&)> is_allowed;
  Function<AsyncResult<io::AnyConnection>(net::Endpoint)> connect;
  std::optional<Url> proxy;
  std::optional<tls::Connector> tls;  // if not the usual one
};

}  // namespace rouse::http
