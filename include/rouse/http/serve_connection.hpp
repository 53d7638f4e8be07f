// serve_connection: answers the requests of one connection, whatever that is. For tests over
// io::duplex, and for streams that come from elsewhere than a Server.
//
//   auto [client, server] = io::duplex(4096);
//   spawn(http::serve_connection(std::move(server), hello));
#pragma once

#include <optional>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async.hpp"
#include "rouse/http/router.hpp"
#include "rouse/http/server_options.hpp"
#include "rouse/io/any_connection.hpp"
#include "rouse/net/socket_addr.hpp"

namespace rouse::http {

/// Completes when the connection has ended: closed by the peer, after an error of the peer's or of
/// the stream, at a time limit, or because `options.stop` was cancelled. Never throws what a
/// handler throws.
/// Cancel safety: dropping it drops the handler, and closes the connection.
/// Threads: tasks of a runtime.
/// Errors: std::bad_alloc.
[[nodiscard]] ROUSE_API Async<void> serve_connection(io::AnyConnection stream, Router routes,
                                                     ServerOptions options = ServerOptions());

}  // namespace rouse::http
