// http::ServerOptions: how much a server takes on, how long it waits, and whom it tells. Everything
// has a bound from the start; a limit that is not to hold is `no_limit` or `no_time_limit`, written
// out.
#pragma once

#include <cstddef>
#include <exception>

#include "rouse/base/function.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/http/request.hpp"
#include "rouse/http/status.hpp"
#include "rouse/sync/cancellation_token.hpp"

namespace rouse::http {

inline constexpr std::size_t no_limit = static_cast<std::size_t>(-1);
inline constexpr std::chrono::milliseconds no_time_limit = std::chrono::milliseconds::max();

class ServerOptions {
 public:
  ServerOptions() {
  }  // NOLINT(*-use-equals-default): an aggregate would be destroyed twice by GCC 12

  // Of a request. Above: 414, 431.
  std::size_t max_target = std::size_t{8} * 1024;  ///< bytes of a target
  std::size_t max_head = std::size_t{32} * 1024;   ///< bytes of a request line and header fields
  std::size_t max_fields = 100;                    ///< header fields

  /// For a head to arrive, from the accept or from its first byte on; then 408.
  std::chrono::milliseconds head_time = std::chrono::seconds(10);
  /// For another request to begin on an open connection; then it is closed.
  std::chrono::milliseconds idle_time = std::chrono::seconds(60);
  /// Of the time that the server waits for a peer to send or to take bytes of a body, each stretch
  /// of this length must bring `progress_bytes`; else the connection is closed, and
  /// reset if the peer does not take what is sent.
  std::chrono::milliseconds progress_time = std::chrono::seconds(30);
  std::size_t progress_bytes = 15'000;  ///< see progress_time
  /// For a handler, until it gives its answer; then it is dropped, and 503. It sees this as its
  /// Deadline, and a route may have its own: Route::time_limit.
  std::chrono::milliseconds handler_time = std::chrono::seconds(30);

  /// Open at a time; then it accepts no more. 0: 80% of the descriptors that the process may have.
  std::size_t max_connections = 0;
  /// Answered at a time, by all connections; above: 503. A connection that became a WebSocket,
  /// or speaks another protocol, does not count.
  std::size_t max_requests = 10'000;

  /// When this is cancelled it accepts no more, closes idle connections, answers the requests that
  /// have begun with "Connection: close", and waits for them. So does every server that was bound
  /// with a copy; one of them that ends otherwise leaves the others alone.
  sync::CancellationToken stop;
  /// So long; then it drops what is left.
  std::chrono::milliseconds drain_time = std::chrono::seconds(30);

  /// Called with what a handler, or the body of its answer, throws.
  Function<void(const std::exception_ptr&, const Request&)> on_error;
  /// Called for each request with the status of its answer, before that is sent.
  Function<void(const Request&, Status)> on_request;
};

}  // namespace rouse::http
