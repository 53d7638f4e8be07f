// http::upgrade to a WebSocket: the server's end.
//
//   rouse::Async<void> echo(ws::Socket peer);
//   rouse::Async<http::Response> chat(http::Request& request) {
//     co_return http::upgrade(request, echo);
//   }
#pragma once

#include "rouse/base/function.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async.hpp"
#include "rouse/http/request.hpp"
#include "rouse/http/response.hpp"
#include "rouse/http/ws_options.hpp"
#include "rouse/http/ws_socket.hpp"

namespace rouse::http {
namespace ws {

/// What a server does with a WebSocket. When it ends, the connection is closed with the closing
/// handshake: 1000, or 1011 if it threw; unless it has given its Socket, or a part of it, to
/// somebody who still has it.
using Handler = Function<Async<void>(Socket)>;

}  // namespace ws

/// The answer to a request for a WebSocket: 101, and then `handler` is called. It runs without the
/// time limits of HTTP. What it throws goes to ServerOptions::on_error. Otherwise a refusal:
/// - 405 to another method than GET
/// - 426 to HTTP/1.0, to a request for no WebSocket, and for another version than 13
/// - 400 to one without a right key, or with a body
/// - 403 to a page of another origin: see ws::UpgradeOptions::allows_origin
[[nodiscard]] ROUSE_API Response upgrade(Request& request, ws::Handler handler,
                                         ws::UpgradeOptions options = ws::UpgradeOptions());

}  // namespace rouse::http
