#include "rouse/http/sight_pages.hpp"

#include <string>
#include <utility>

#include "rouse/exec/blocking_pool.hpp"

#include "sight/reply.hpp"

namespace rouse::http {
namespace {

Async<Response> show(Request& request) {
  const std::string& rest = request.path_parameter("rest");
  const auto make = [path = "/" + rest, query = std::string(request.query())] {
    return sight::reply_to(path, query);
  };
  // A dump waits for tasks that are being polled, so not here.
  sight::Reply reply = co_await spawn_blocking(make);
  Response response(static_cast<Status>(reply.status), reply.content_type, std::move(reply.body));
  response.header("Cache-Control", "no-store")
      .header("X-Content-Type-Options", "nosniff")
      .header("Referrer-Policy", "no-referrer")
      .header("Cross-Origin-Resource-Policy", "same-origin")
      .header("Content-Security-Policy", reply.policy);
  co_return response;
}

}  // namespace

Handler sight_pages() { return Handler(show); }

}  // namespace rouse::http
