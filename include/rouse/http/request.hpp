// http::Request: what a client asks for. A handler is given one:
//
//   rouse::Async<http::Response> hello(http::Request& request) {
//     co_return http::Response::text("hello, " + request.path_parameter("name"));
//   }
//
// and a client makes one: http::Request(Method::get, "/data").
// Threads: one task at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/http/body.hpp"
#include "rouse/http/headers.hpp"
#include "rouse/http/method.hpp"
#include "rouse/net/socket_addr.hpp"

namespace rouse::http {

class ROUSE_API Request {
 public:
  /// A part of the path that a route has a name for.
  struct Parameter {
    std::string name;
    std::string value;
  };

  /// GET /.
  Request() : Request(Method::get, "/") {}
  /// A target is a path, perhaps with a query, already encoded: "/search?q=a%20b". Throws
  /// std::system_error with Error::bad_target where it is none.
  Request(Method method, std::string_view target);
  Request(Method method, std::string_view target, Body body);

  /// GET, POST, ...
  [[nodiscard]] Method method() const noexcept { return method_; }
  /// As it came: with its query, encoded.
  [[nodiscard]] const std::string& target() const noexcept { return target_; }
  /// The path, decoded once. In a request that came it has no "..", no "." and no NUL.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// What is behind the '?', encoded; empty if there is none.
  [[nodiscard]] std::string_view query() const noexcept;
  /// The first parameter of that name in the query, decoded; '+' is a space.
  [[nodiscard]] std::optional<std::string> query_parameter(std::string_view name) const;
  /// What stood in the path at the place of {name} in the route, decoded. There must be such a
  /// place: aborts with a message otherwise.
  [[nodiscard]] const std::string& path_parameter(std::string_view name) const noexcept;
  /// 1 or 0: HTTP/1.1 or HTTP/1.0.
  [[nodiscard]] int minor_version() const noexcept { return minor_version_; }

  /// Its header fields.
  [[nodiscard]] Headers& headers() noexcept { return headers_; }
  [[nodiscard]] const Headers& headers() const noexcept { return headers_; }
  /// The value of the first field of this name.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept {
    return headers_.get(name);
  }
  /// The bytes behind its head.
  [[nodiscard]] Body& body() noexcept { return body_; }

  /// The address of the client, if it is known. Behind a proxy: the proxy's.
  [[nodiscard]] const std::optional<net::SocketAddr>& peer() const noexcept { return peer_; }
  /// Whether it came over TLS.
  [[nodiscard]] bool is_secure() const noexcept { return is_secure_; }

 private:
  friend class RequestAccess;

  Method method_ = Method::get;
  int minor_version_ = 1;
  bool is_secure_ = false;
  std::string target_;
  std::string path_;
  std::vector<Parameter> parameters_;  // of the path
  Headers headers_;
  Body body_;
  std::optional<net::SocketAddr> peer_;
};

}  // namespace rouse::http
