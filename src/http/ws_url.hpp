// URLs of WebSockets: ws://host/path?query, wss://host:port/path. But for the scheme they are those
// of http: url.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rouse::http::ws {

struct SocketUrl {
  bool is_secure = false;
  std::string host;      // for the Host field: without the usual port
  std::string endpoint;  // to connect to: with the port
  std::string target;
};

/// Nothing: it is none. Neither credentials nor a fragment may be in it.
[[nodiscard]] std::optional<SocketUrl> parse_socket_url(std::string_view text);

}  // namespace rouse::http::ws
