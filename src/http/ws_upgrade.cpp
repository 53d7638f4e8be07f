#include "rouse/http/ws_upgrade.hpp"

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "rouse/base/assert.hpp"

#include "http/answer.hpp"
#include "http/ws_connection.hpp"
#include "http/ws_handshake.hpp"

namespace rouse::http {
namespace {

/// Why a request can't have a WebSocket.
std::optional<Response> refusal_of(Request& request, const ws::UpgradeOptions& options) {
  const Headers& headers = request.headers();
  if (request.method() != Method::get) {
    return plain_answer(Status::method_not_allowed, "a WebSocket is asked for by GET")
        .header("Allow", "GET");
  }
  if (request.minor_version() != 1 || !headers.has_token("Connection", "upgrade") ||
      !headers.has_token("Upgrade", "websocket")) {
    return plain_answer(Status::upgrade_required, "this is for WebSockets")
        .header("Upgrade", "websocket");
  }
  if (headers.count("Sec-WebSocket-Version") != 1 || headers.get("Sec-WebSocket-Version") != "13") {
    return plain_answer(Status::upgrade_required, "another version of WebSocket than 13")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Version", "13");
  }
  if (headers.count("Sec-WebSocket-Key") != 1 ||
      !ws::is_key(headers.get("Sec-WebSocket-Key").value_or("")) || !request.body().empty()) {
    return plain_answer(Status::bad_request, "not a request for a WebSocket");
  }
  if (!ws::may_connect(request, options)) {
    return plain_answer(Status::forbidden, "pages of another origin may not connect");
  }
  return std::nullopt;
}

Async<void> run_socket(io::AnyConnection stream, ws::Handler handler, ws::Limits limits,
                       std::string protocol) {
  const auto connection =
      make_ref<ws::Connection>(std::move(stream), ws::Role::server, limits, std::move(protocol));
  std::exception_ptr thrown;
  try {
    co_await handler(ws::Socket(connection));
  } catch (...) {
    thrown = std::current_exception();
  }
  if (connection->has_one_owner()) {
    ws::Close close;
    close.code = thrown ? ws::CloseCode::internal_error : ws::CloseCode::normal;
    ws::Closing closing(*connection, std::move(close));
    const Result<void> closed = co_await std::move(closing).result();
    static_cast<void>(closed);  // it is closed, or there is nothing to close
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace

Response upgrade(Request& request, ws::Handler handler, ws::UpgradeOptions options) {
  ROUSE_ASSERT(handler, "http::upgrade without a function that takes the WebSocket");
  if (auto refused = refusal_of(request, options)) return *std::move(refused);
  const Headers& headers = request.headers();
  Response response(Status::switching_protocols);
  response.header("Upgrade", "websocket");
  response.header("Sec-WebSocket-Accept", ws::accept_of(*headers.get("Sec-WebSocket-Key")));
  std::string protocol = ws::choose_protocol(headers, options.protocols);
  if (!protocol.empty()) response.header("Sec-WebSocket-Protocol", protocol);
  response.upgrade() = [handler = std::move(handler), limits = options.limits,
                        protocol = std::move(protocol)](io::AnyConnection stream) {
    return run_socket(std::move(stream), handler, limits, protocol);
  };
  return response;
}

}  // namespace rouse::http
