// Connection: the bytes of one HTTP/1.1 connection of a server, both ways, with their time limits.
// It reads heads and bodies through the Parser, gathers what is to be sent, and knows how a
// connection ends. What is answered is decided elsewhere (serve_connection.cpp).
//
// One task polls all of it. What is to be sent waits in `out` until the peer is waited for: so
// answers to pipelined requests leave together, and a request that came with one read is answered
// with one write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/http/server_options.hpp"
#include "rouse/io/any_connection.hpp"
#include "rouse/io/frame_buffer.hpp"

#include "http/io_limits.hpp"
#include "http/parser.hpp"

namespace rouse::http {

class RequestBody;

class Connection {
 public:
  enum class Next : std::uint8_t { request, refused, closed };

  Connection(io::AnyConnection stream, const ServerOptions& options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// The head of the next request is there; or it is refused, as `refusal` says; or there will be
  /// none: the peer has gone, or nothing came in time, or the server stops.
  Poll<Next> poll_head(Context& cx);
  [[nodiscard]] Head& head() noexcept { return parser_.head(); }
  [[nodiscard]] const Refusal& refusal() const noexcept { return refusal_; }

  /// Bytes of the body of the request, 0 at its end. Tells a peer that waits for 100-continue.
  Poll<Result<std::size_t>> poll_body(Context& cx, std::span<std::byte> buf);
  [[nodiscard]] bool has_read_body() const noexcept {
    return parser_.stage() == Parser::Stage::complete;
  }
  /// How many bytes of the body are still to come, if that is known.
  [[nodiscard]] std::optional<std::uint64_t> body_left() const noexcept { return body_left_; }
  /// The peer waits for a word before it sends the body.
  [[nodiscard]] bool owes_continue() const noexcept { return owes_continue_; }
  void write_continue();
  /// What went wrong with the body of this request.
  [[nodiscard]] std::error_code body_error() const noexcept { return body_error_; }
  /// A handler that is polled and does not ask for the body has given up the read that waited, if
  /// there was one: then nobody waits for the peer.
  void begin_handler_poll() noexcept { is_asked_for_body_ = false; }
  void end_handler_poll() noexcept {
    if (!is_asked_for_body_) receiving_.forget_waiting();
  }
  /// The body that reads from here; it is told when the exchange is over.
  void set_body(RequestBody* body) noexcept;

  /// While the handler runs: sends what waits, and sees whether the peer has gone. What it sends
  /// meanwhile is kept, up to a bound.
  bool poll_peer_left(Context& cx);

  /// What is to be sent next.
  [[nodiscard]] std::string& out() noexcept { return out_; }
  /// The bytes behind `out`, which stay where they are until they are sent.
  void set_behind(std::string_view bytes) noexcept { behind_ = bytes; }
  Poll<Result<void>> poll_send(Context& cx);
  /// Whether so much waits that it is better sent before the next request is looked at.
  [[nodiscard]] bool has_much_to_send() const noexcept {
    return out_.size() >= most_gathered || !behind_.empty();
  }

  /// The exchange is over: its body is cut off, and the next request may come.
  void end_exchange() noexcept;
  /// Throws away what is left of the body. False: it is too much, or takes too long.
  Poll<bool> poll_discard_body(Context& cx);
  /// Sends what waits and ends the stream. If the peer may still be sending, its bytes are thrown
  /// away for a while: else the system would tell it of an error before it reads the answer.
  Poll<> poll_close(Context& cx);

  /// A peer that does not take what is sent is to be cut off there, too.
  void set_tcp_socket(int fd) noexcept { tcp_socket_ = fd; }
  [[nodiscard]] bool is_stopping() const noexcept { return options_->stop.is_cancelled(); }
  [[nodiscard]] Alarm& alarm() noexcept { return alarm_; }
  /// The stream, and what was read of it and not used.
  [[nodiscard]] io::AnyConnection take_stream();

 private:
  static constexpr std::size_t most_gathered = std::size_t{64} * 1024;
  static constexpr std::size_t most_read_ahead = std::size_t{16} * 1024;
  static constexpr std::size_t most_discarded = std::size_t{64} * 1024;
  static constexpr std::chrono::seconds discard_time{1};
  static constexpr std::chrono::seconds buffers_kept{5};  // by an idle connection

  Poll<Result<std::size_t>> poll_fill(Context& cx);
  Poll<Result<void>> wait_until_taken(Context& cx);
  Poll<Next> wait_for_head(Context& cx);
  bool poll_stopped(Context& cx);
  Next refuse(const Refusal& refusal) noexcept;
  void release_buffers() noexcept;
  [[nodiscard]] time::Instant head_deadline();
  Result<std::size_t> take_body(std::span<const std::byte> bytes, std::span<std::byte> buf,
                                std::size_t& used);
  Poll<Result<std::size_t>> poll_body_bytes(Context& cx, std::span<std::byte> buf);
  bool poll_linger(Context& cx);

  io::AnyConnection stream_;
  const ServerOptions* options_;
  sync::CancellationToken::Cancelled stopped_;
  Waker waits_for_stop_;  // whom `stopped_` wakes
  Alarm alarm_;
  Parser parser_;
  io::FrameBuffer in_;
  std::string out_;
  std::string_view behind_;
  std::size_t sent_ = 0;  // of both
  int tcp_socket_ = -1;
  bool needs_flush_ = false;
  Progress sending_;
  Progress receiving_;

  enum class Wait : std::uint8_t { accepted, idle, begun };
  Wait wait_ = Wait::accepted;
  std::optional<time::Instant> waits_since_;  // for a head, or to discard
  Refusal refusal_;
  RequestBody* body_ = nullptr;
  std::optional<std::uint64_t> body_left_;
  std::error_code body_error_;
  std::size_t discarded_ = 0;
  bool owes_continue_ = false;
  bool is_asked_for_body_ = false;
  bool has_buffers_ = false;
  bool has_ended_ = false;  // the peer sends no more
  bool has_shut_down_ = false;
  bool lingers_ = false;
};

}  // namespace rouse::http
