// http::Reply: what a server answered to a client's request. Its head is there; its body is read as
// fast as it is asked for, and no faster:
//
//   auto reply = co_await client.get("https://example.org/data").send();
//   reply.check();                                        // throws if the status is 400 or more
//   std::string text = co_await reply.text();             // or bytes(), or as any AsyncRead:
//   while (const std::size_t n = co_await reply.read(buf)) ...
//
// Once the body is read to its end the connection serves the next request. Dropped before, the
// connection is closed, unless the rest has already come.
// Threads: one task at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/http/body.hpp"
#include "rouse/http/headers.hpp"
#include "rouse/http/status.hpp"
#include "rouse/io/read.hpp"

namespace rouse::http {

class ROUSE_API Reply : public io::ReadMembers<Reply> {
 public:
  /// For the library.
  Reply(Status status, Headers headers, Body body, std::string url, std::size_t limit) noexcept
      : status_(status),
        headers_(std::move(headers)),
        body_(std::move(body)),
        url_(std::move(url)),
        limit_(limit) {}

  /// 200, if all went well.
  [[nodiscard]] Status status() const noexcept { return status_; }
  /// What is decoded here (Content-Encoding) is no longer in them, nor is its length.
  [[nodiscard]] const Headers& headers() const noexcept { return headers_; }
  /// The value of the first field of this name.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept {
    return headers_.get(name);
  }
  /// Where it came from in the end, after all redirects; without credentials.
  [[nodiscard]] const std::string& url() const noexcept { return url_; }

  /// Throws StatusError if the status is 400 or more.
  void check() const;

  /// Errors: io::Error::unexpected_eof if the server ends too early, http::Error::bad_message,
  /// ClientError::bad_encoding; std::errc::timed_out or DeadlineError::passed when the time of the
  /// request is up; those of the connection.
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    return body_.poll_read(cx, buf);
  }
  /// How many bytes there are still to read, if that is known.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept { return body_.length(); }
  /// For who wants to send it on.
  [[nodiscard]] Body& body() noexcept { return body_; }

  /// Completes with what is left of the body, decoded, as text or as bytes.
  /// Cancel safety: not safe: what was read before it was dropped is lost.
  /// Errors: as of reading; io::Error::too_long above ClientBuilder::body_limit.
  [[nodiscard]] AsyncResult<std::string> text() { return body_.text(limit_); }
  /// The same as bytes.
  [[nodiscard]] AsyncResult<std::vector<std::byte>> bytes() { return body_.bytes(limit_); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Reply, nullptr, one, &Reply::body_)

 private:
  Status status_;
  Headers headers_;
  Body body_;
  std::string url_;
  std::size_t limit_;
};

}  // namespace rouse::http
