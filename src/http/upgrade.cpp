#include "rouse/http/upgrade.hpp"

#include <utility>

#include "rouse/base/assert.hpp"

namespace rouse::http {

Response upgrade(const Request& request, std::string_view protocol, Response::Upgrade then) {
  ROUSE_ASSERT(then, "http::upgrade without a function that takes the connection");
  const bool is_asked_for = request.minor_version() == 1 &&
                            request.headers().has_token("Connection", "upgrade") &&
                            request.headers().has_token("Upgrade", protocol);
  if (!is_asked_for) return Response(Status::upgrade_required).header("Upgrade", protocol);
  Response response(Status::switching_protocols);
  response.header("Upgrade", protocol);
  response.upgrade() = std::move(then);
  return response;
}

}  // namespace rouse::http
