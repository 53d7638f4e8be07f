// How a WebSocket is made: ws::Limits for both ends, ws::UpgradeOptions for http::upgrade,
// ws::ConnectOptions for ws::connect. A time that is not to end is
// std::chrono::milliseconds::max().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rouse/base/function.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/http/headers.hpp"
#include "rouse/http/request.hpp"

namespace rouse::http::ws {

/// How much a connection takes on, and how long it waits.
class Limits {
 public:
  Limits() noexcept {}  // NOLINT(*-use-equals-default): an aggregate would be destroyed twice

  /// Of a message that comes, in one frame or in many. Above: the peer is told 1009.
  std::size_t max_message = std::size_t{1024} * 1024;
  /// While `recv` waits: nothing came for so long, then a ping is sent; nothing for so long again,
  /// then the peer is dead.
  std::chrono::milliseconds ping_interval = std::chrono::seconds(30);
  /// For the closing handshake.
  std::chrono::milliseconds close_time = std::chrono::seconds(5);
  /// While `send` waits: the peer takes no byte for so long, then it is dead.
  std::chrono::milliseconds progress_time = std::chrono::seconds(30);
};

/// Who may connect to a server, and how.
class UpgradeOptions {
 public:
  UpgradeOptions() {}  // NOLINT(*-use-equals-default): an aggregate would be destroyed twice

  Limits limits;
  /// Subprotocols that are spoken here, the best one first. The first of them that the client
  /// offers is chosen; if it offers none of them, none is.
  std::vector<std::string> protocols;
  /// Whether a page of that origin ("https://example.org") may connect. Without it, only pages of
  /// the host that is asked may. Clients that send no origin are no pages: they always may.
  Function<bool(std::string_view origin, const Request&)> allows_origin;
};

/// What a client asks for.
class ConnectOptions {
 public:
  ConnectOptions() {}  // NOLINT(*-use-equals-default): an aggregate would be destroyed twice

  Limits limits;
  /// Subprotocols that are offered; the server chooses one, or none.
  std::vector<std::string> protocols;
  /// Further fields of the request: Origin, Authorization, Cookie.
  Headers headers;
  /// Until the server has accepted.
  std::chrono::milliseconds connect_time = std::chrono::seconds(10);
};

}  // namespace rouse::http::ws
