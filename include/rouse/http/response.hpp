// http::Response: an answer.
//
//   co_return http::Response::text("hello");
//   co_return co_await http::Response::file("index.html");
//   co_return http::Response::json(text).status(http::Status::created).header("Location", where);
//
// Content-Length, Transfer-Encoding, Connection and Date are the server's to write: what is set
// here under these names is not sent, but for "Connection: close".
// Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rouse/base/function.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/http/body.hpp"
#include "rouse/http/headers.hpp"
#include "rouse/http/status.hpp"
#include "rouse/io/any_connection.hpp"

namespace rouse::http {

class ROUSE_API Response {
 public:
  /// What a connection is handed to: see http::upgrade.
  using Upgrade = Function<Async<void>(io::AnyConnection)>;

  /// Without a body.
  explicit Response(Status status = Status::ok) noexcept : status_(status) {}
  /// With one, and its type: "image/png".
  Response(Status status, std::string_view content_type, Body body);

  /// text/plain; charset=utf-8.
  [[nodiscard]] static Response text(std::string body);
  /// text/html; charset=utf-8.
  [[nodiscard]] static Response html(std::string body);
  /// application/json, of text that is JSON already.
  [[nodiscard]] static Response json(std::string text);
  /// To another place: a URL or a path, encoded. Throws as Headers::set.
  [[nodiscard]] static Response redirect(std::string_view location, Status status = Status::found);

  /// Completes with a file: its bytes, read as they are sent, a type by its name, Last-Modified and
  /// ETag. The server answers If-None-Match, If-Modified-Since and Range from these. 404 if there
  /// is no such regular file, or it may not be read. The path is used as it is: one from a request
  /// belongs into http::static_files.
  /// Cancel safety: dropping it loses nothing.
  /// Errors: the system's, but those that make a 404.
  [[nodiscard]] static AsyncResult<Response> file(std::string path);

  /// 200 if nothing else was said.
  [[nodiscard]] Status status() const noexcept { return status_; }
  Response& status(Status status) & noexcept {
    status_ = status;
    return *this;
  }
  Response&& status(Status status) && noexcept {
    status_ = status;
    return std::move(*this);
  }

  /// Its header fields.
  [[nodiscard]] Headers& headers() noexcept { return headers_; }
  [[nodiscard]] const Headers& headers() const noexcept { return headers_; }
  /// The value of the first field of this name.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept {
    return headers_.get(name);
  }
  /// Sets a field. Throws as Headers::set.
  Response& header(std::string_view name, std::string_view value) & {
    headers_.set(name, value);
    return *this;
  }
  Response&& header(std::string_view name, std::string_view value) && {
    headers_.set(name, value);
    return std::move(*this);
  }

  /// The bytes behind its head.
  [[nodiscard]] Body& body() noexcept { return body_; }
  Response& body(Body body) & noexcept {
    body_ = std::move(body);
    return *this;
  }
  Response&& body(Body body) && noexcept {
    body_ = std::move(body);
    return std::move(*this);
  }

  /// For the library: what the connection is handed to behind a 101.
  [[nodiscard]] Upgrade& upgrade() noexcept { return upgrade_; }

 private:
  Status status_;
  Headers headers_;
  Body body_;
  Upgrade upgrade_;
};

}  // namespace rouse::http
