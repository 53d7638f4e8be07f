// http::upgrade: hands a connection over to another protocol.
//
//   co_return http::upgrade(request, "echo", [](io::AnyConnection peer) { return
//   echo(std::move(peer)); });
#pragma once

#include <string_view>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/http/request.hpp"
#include "rouse/http/response.hpp"

namespace rouse::http {

/// The answer 101: once it is sent, `then` is called with the connection, and awaited. It runs
/// without the time limits of HTTP, and is dropped when the server has drained for long enough.
/// What it throws goes to ServerOptions::on_error. A request that does not ask for this protocol is
/// answered with 426 instead.
[[nodiscard]] ROUSE_API Response upgrade(const Request& request, std::string_view protocol,
                                         Response::Upgrade then);

}  // namespace rouse::http
