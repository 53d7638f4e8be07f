// ClientConnection: a connection to a server, one request after another.
//
//   idle --exchange--> [ sends the request | reads the head of the answer ] --> body --> idle
//
// It reads while it writes: a server may answer, with an error say, before it has read the whole
// request. It is between two requests, and may be used for the next one, only if both are whole,
// the answer did not forbid it, and no byte came that belongs to neither.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/http/body.hpp"
#include "rouse/http/headers.hpp"
#include "rouse/http/method.hpp"
#include "rouse/io/any_connection.hpp"
#include "rouse/time/instant.hpp"

#include "http/parser.hpp"

namespace rouse::http {

/// What goes over the wire. Shared: it may still be on its way when the answer begins.
class Outgoing : public RefCounted<Outgoing> {
 public:
  Outgoing(Method its_method, std::string its_target, std::string its_host, Headers its_headers,
           Body its_body) noexcept
      : method(its_method),
        target(std::move(its_target)),
        host(std::move(its_host)),
        headers(std::move(its_headers)),
        body(std::move(its_body)) {}

  Method method;
  std::string target;
  std::string host;
  Headers headers;
  Body body;
};

class ClientConnection {
 public:
  explicit ClientConnection(io::AnyConnection stream);

  /// Completes when the head of the answer is there. What is still to be sent then goes out while
  /// the answer is read; until it is whole, or `stop_sending`, this must not be moved. Of a body
  /// that is in memory nothing is used up.
  /// Cancel safety: not safe: the connection is of no use any more.
  AsyncResult<void> exchange(RefPtr<Outgoing> request);
  void stop_sending() noexcept { sending_.reset(); }
  /// Of the answer.
  [[nodiscard]] Head& head() noexcept { return parser_.head(); }
  /// Bytes of its body; 0 at its end.
  Poll<Result<std::size_t>> poll_body(Context& cx, std::span<std::byte> buf);
  /// Reads on, if the rest of the body is in memory.
  void skip_buffered();

  /// The answer is whole.
  [[nodiscard]] bool is_whole() const noexcept {
    return parser_.stage() == Parser::Stage::complete;
  }
  [[nodiscard]] bool is_between_requests() const noexcept;
  /// How long it may stay idle: less than the server waits.
  [[nodiscard]] time::Nanoseconds idle_limit() const noexcept { return idle_limit_; }
  /// Between two requests: whether nothing came, neither bytes nor the end.
  [[nodiscard]] bool is_quiet();

  /// Of the exchange that failed.
  [[nodiscard]] bool has_answer_begun() const noexcept { return has_answer_begun_; }
  [[nodiscard]] bool has_written() const noexcept { return has_written_; }
  /// From a body that is not in memory, and can't be read again.
  [[nodiscard]] bool has_read_body() const noexcept { return has_read_body_; }
  /// What was wrong with the answer; empty if that is not what failed.
  [[nodiscard]] std::string_view reason() const noexcept { return reason_; }

 private:
  void begin(RefPtr<Outgoing> request);
  /// False: the body that is to be sent can't be read.
  bool poll_send(Context& cx);
  AsyncResult<void> send(RefPtr<Outgoing> request);
  AsyncResult<void> send_stream(std::string head, Body& body, bool is_chunked);
  AsyncResult<void> write(std::string_view first, std::string_view second);
  AsyncResult<void> receive_head(Method method);
  AsyncResult<void> receive_one_head();
  [[nodiscard]] std::error_code why_refused();
  void read_keep_alive();
  [[nodiscard]] std::span<const std::byte> unread() const noexcept {
    return std::span(buffer_).subspan(begin_, end_ - begin_);
  }

  io::AnyConnection stream_;
  Parser parser_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  // of what was read and not yet used
  std::size_t end_ = 0;
  time::Nanoseconds idle_limit_{};
  std::string_view reason_;
  internal::Maybe<AsyncResult<void>> sending_;
  Result<void> sent_;  // why it could not be sent
  bool is_sent_ = true;
  bool has_written_ = false;
  bool has_read_body_ = false;
  bool is_body_bad_ = false;  // of the request
  bool has_answer_begun_ = false;
  bool keeps_alive_ = true;
  bool has_excess_ = false;  // bytes came that nobody asked for
  bool is_cut_off_ = false;  // the end came too early
};

}  // namespace rouse::http
