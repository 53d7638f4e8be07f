// http::Router: which handler answers which request.
//
//   http::Router routes;
//   routes.get("/", home);
//   routes.get("/users/{id}", show).time_limit(5s);     // request.path_parameter("id")
//   routes.post("/users", add);
//   routes.get("/files/{rest...}", files);              // all below: "a/b.txt", also nothing
//
// A word in the path goes before a {name}, and that before a {rest...}, whatever the order of the
// calls. What stands at a {name} is decoded and not empty. HEAD is answered by GET, without the
// body; OPTIONS with the methods that a path has; another method with 405, another path with 404.
// A path that is no pattern, or the same twice, aborts with a message.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/http/handler.hpp"
#include "rouse/http/method.hpp"

namespace rouse::http {

class RouteTable;

/// How one route differs from the ServerOptions. What the functions of Router give.
class Route {
 public:
  explicit Route(Handler its_handler) noexcept : handler_(std::move(its_handler)) {}

  /// Instead of ServerOptions::handler_time.
  Route& time_limit(std::chrono::milliseconds time) noexcept {
    time_limit_ = time;
    has_time_limit_ = true;
    return *this;
  }
  /// Whether its handler is dropped when the peer leaves before the answer. From the start that is
  /// so for GET, HEAD and OPTIONS, which change nothing; others run to their end.
  Route& drop_when_peer_leaves(bool on = true) noexcept {
    drops_ = on ? Drops::always : Drops::never;
    return *this;
  }

  /// For the server: what answers.
  [[nodiscard]] const Handler& handler() const noexcept { return handler_; }
  /// For the server: its own time limit, if it has one.
  [[nodiscard]] std::chrono::milliseconds time_limit_or(
      std::chrono::milliseconds otherwise) const noexcept {
    return has_time_limit_ ? time_limit_ : otherwise;
  }
  /// For the server: see drop_when_peer_leaves.
  [[nodiscard]] bool is_dropped_when_peer_leaves(Method method) const noexcept {
    return drops_ == Drops::if_safe ? is_safe(method) : drops_ == Drops::always;
  }

 private:
  enum class Drops : unsigned char { if_safe, always, never };

  Handler handler_;
  std::chrono::milliseconds time_limit_{0};
  bool has_time_limit_ = false;
  Drops drops_ = Drops::if_safe;
};

class ROUSE_API Router {
 public:
  /// Without routes: 404.
  Router();
  /// One handler for all requests.
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, Router> &&
             std::constructible_from<Handler, F &&>)
  Router(F&& handler) : Router() {
    otherwise(Handler(std::forward<F>(handler)));
  }
  Router(const Router& other) noexcept;
  Router(Router&& other) noexcept;
  Router& operator=(Router other) noexcept;
  ~Router();

  /// GET, and HEAD without a route of its own.
  Route& get(std::string_view path, Handler handler) {
    return add(Method::get, path, std::move(handler));
  }
  /// HEAD.
  Route& head(std::string_view path, Handler handler) {
    return add(Method::head, path, std::move(handler));
  }
  /// POST.
  Route& post(std::string_view path, Handler handler) {
    return add(Method::post, path, std::move(handler));
  }
  /// PUT.
  Route& put(std::string_view path, Handler handler) {
    return add(Method::put, path, std::move(handler));
  }
  /// PATCH.
  Route& patch(std::string_view path, Handler handler) {
    return add(Method::patch, path, std::move(handler));
  }
  /// DELETE.
  Route& delete_(std::string_view path, Handler handler) {
    return add(Method::delete_, path, std::move(handler));
  }
  /// Of any method that is one of HTTP.
  Route& add(Method method, std::string_view path, Handler handler);
  /// Of all methods that the path has no route for.
  Route& any(std::string_view path, Handler handler);
  /// For what no route fits, instead of 404 and 405.
  Route& otherwise(Handler handler);

  /// For the server. Copies of a Router share their routes: add none while it is in use.
  [[nodiscard]] const RouteTable& table() const noexcept { return *table_; }

 private:
  RefPtr<RouteTable> table_;
};

}  // namespace rouse::http
