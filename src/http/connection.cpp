#include "http/connection.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "rouse/http/error.hpp"
#include "rouse/io/error.hpp"

#include "http/request_body.hpp"
#include "http/rewound.hpp"
#include "sys/socket.hpp"

namespace rouse::http {
namespace {

ParserLimits limits_of(const ServerOptions& options) noexcept {
  ParserLimits limits;
  limits.target = options.max_target;
  limits.head = options.max_head;
  limits.fields = options.max_fields;
  return limits;
}

}  // namespace

Connection::Connection(io::AnyConnection stream, const ServerOptions& options)
    : stream_(std::move(stream)),
      options_(&options),
      stopped_(options.stop.cancelled()),
      parser_(Parser::Kind::requests, limits_of(options)),
      sending_(internal::saturate(options.progress_time), options.progress_bytes),
      receiving_(internal::saturate(options.progress_time), options.progress_bytes) {}

Connection::~Connection() { set_body(nullptr); }

// --- Heads. --------------------------------------------------------------------------------------

Poll<Result<std::size_t>> Connection::poll_fill(Context& cx) {
  has_buffers_ = true;
  const Poll<Result<std::size_t>> polled = stream_.poll_read(cx, in_.room());
  if (polled.is_pending() || !polled.value()) return polled;
  in_.add(*polled.value());
  has_ended_ = *polled.value() == 0;
  return polled;
}

Poll<Connection::Next> Connection::poll_head(Context& cx) {
  // One read may bring hundreds of requests, and other tasks are to run in between.
  if (!in_.empty() && !cx.take_budget()) return pending;
  for (;;) {
    while (!in_.empty()) {
      in_.consume(parser_.parse_head(in_.bytes()));
      switch (parser_.stage()) {
        case Parser::Stage::head:
          continue;
        case Parser::Stage::failed:
          return Poll<Next>::ready(refuse(parser_.refusal()));
        default:
          body_left_ = parser_.head().is_chunked
                           ? std::nullopt
                           : std::optional(parser_.head().content_length.value_or(0));
          owes_continue_ = parser_.head().expects_continue;
          return Poll<Next>::ready(Next::request);
      }
    }
    if (const Poll<Result<void>> sent = poll_send(cx); sent.is_pending()) {
      return pending;
    } else if (!sent.value() || has_ended_) {
      return Poll<Next>::ready(Next::closed);
    }
    const Poll<Result<std::size_t>> filled = poll_fill(cx);
    if (filled.is_pending()) return wait_for_head(cx);
    if (!filled.value() || *filled.value() == 0) return Poll<Next>::ready(Next::closed);
  }
}

Poll<Connection::Next> Connection::wait_for_head(Context& cx) {
  const bool has_begun = parser_.has_begun();
  if (!has_begun && poll_stopped(cx)) return Poll<Next>::ready(Next::closed);
  const time::Instant deadline = head_deadline();
  if (!has_begun && has_buffers_) {
    if (!alarm_.has_passed(cx, std::min(deadline, time::add(*waits_since_, buffers_kept)))) {
      return pending;
    }
    release_buffers();
  }
  if (!alarm_.has_passed(cx, deadline)) return pending;
  if (!has_begun) return Poll<Next>::ready(Next::closed);
  return Poll<Next>::ready(refuse(Refusal{Status::request_timeout, "the head took too long"}));
}

/// The token has one lock for all connections: it is taken once a connection, not once a request.
bool Connection::poll_stopped(Context& cx) {
  if (is_stopping()) return true;
  if (waits_for_stop_.will_wake(cx.waker()) || !cx.has_budget()) return false;
  if (stopped_.poll(cx).is_ready()) return true;
  waits_for_stop_ = cx.waker();
  return false;
}

/// Most connections are idle for most of the time.
void Connection::release_buffers() noexcept {
  in_ = io::FrameBuffer();
  out_ = std::string();
  has_buffers_ = false;
}

time::Instant Connection::head_deadline() {
  if (wait_ == Wait::idle && parser_.has_begun()) {
    wait_ = Wait::begun;
    waits_since_.reset();
  }
  if (!waits_since_) waits_since_ = time::now();
  return time::add(*waits_since_, internal::saturate(wait_ == Wait::idle ? options_->idle_time
                                                                         : options_->head_time));
}

Connection::Next Connection::refuse(const Refusal& refusal) noexcept {
  refusal_ = refusal;
  lingers_ = true;
  return Next::refused;
}

// --- Bodies. -------------------------------------------------------------------------------------

void Connection::set_body(RequestBody* body) noexcept {
  if (body_) body_->cut_off();
  body_ = body;
}

void Connection::write_continue() {
  owes_continue_ = false;
  out_ += "HTTP/1.1 100 Continue\r\n\r\n";
}

Poll<Result<std::size_t>> Connection::poll_body(Context& cx, std::span<std::byte> buf) {
  using Ready = Poll<Result<std::size_t>>;
  is_asked_for_body_ = true;
  if (body_error_) return Ready::ready(body_error_);
  if (has_read_body() || buf.empty()) return Ready::ready(std::size_t{0});
  if (owes_continue_ && in_.empty()) write_continue();
  owes_continue_ = false;
  Ready polled = poll_body_bytes(cx, buf);
  if (polled.is_ready() && polled.value() && body_left_) *body_left_ -= *polled.value();
  if (polled.is_ready() && !polled.value()) body_error_ = polled.value().error();
  return polled;
}

Poll<Result<std::size_t>> Connection::poll_body_bytes(Context& cx, std::span<std::byte> buf) {
  using Ready = Poll<Result<std::size_t>>;
  for (;;) {
    while (!in_.empty()) {
      std::size_t used = 0;
      const Result<std::size_t> given = take_body(in_.bytes(), buf, used);
      in_.consume(used);
      if (!given || *given != 0 || has_read_body()) return Ready::ready(given);
    }
    if (has_ended_) return Ready::ready(io::Error::unexpected_eof);
    if (!out_.empty()) {
      const Poll<Result<void>> sent = poll_send(cx);
      if (sent.is_pending()) return pending;
      if (!sent.value()) return Ready::ready(sent.value().error());
    }
    // A large buffer is read into at once, and what frames the chunks is taken out there.
    const bool is_direct = buf.size() >= most_read_ahead;
    const Ready polled = is_direct ? stream_.poll_read(cx, buf) : poll_fill(cx);
    if (polled.is_pending()) {
      if (!alarm_.has_passed(cx, receiving_.deadline())) return pending;
      return Ready::ready(Error::too_slow);
    }
    if (!polled.value()) return polled;
    const std::size_t n = *polled.value();
    receiving_.add(n);
    if (n == 0) has_ended_ = true;
    if (!is_direct || n == 0) continue;
    std::size_t used = 0;
    const Result<std::size_t> given = take_body(buf.first(n), buf, used);
    for (std::span<const std::byte> rest = buf.subspan(used, n - used); !rest.empty();) {
      const std::span<std::byte> room = in_.room();
      const std::size_t fits = std::min(room.size(), rest.size());
      std::memcpy(room.data(), rest.data(), fits);
      in_.add(fits);
      rest = rest.subspan(fits);
    }
    if (!given || *given != 0 || has_read_body()) return Ready::ready(given);
  }
}

/// Until a byte of the body was given, or there are no more. `bytes` may be at the front of `buf`.
Result<std::size_t> Connection::take_body(std::span<const std::byte> bytes,
                                          std::span<std::byte> buf, std::size_t& used) {
  std::size_t given = 0;
  while (used < bytes.size() && parser_.stage() == Parser::Stage::body && given < buf.size()) {
    const Parser::Taken taken = parser_.parse_body(bytes.subspan(used), buf.subspan(given));
    used += taken.used;
    given += taken.given;
  }
  if (parser_.stage() != Parser::Stage::failed) return given;
  refusal_ = parser_.refusal();
  return Error::bad_message;
}

bool Connection::poll_peer_left(Context& cx) {
  if (const Poll<Result<void>> sent = poll_send(cx); sent.is_ready() && !sent.value()) return true;
  if (!has_read_body()) return false;
  while (!has_ended_ && in_.size() < most_read_ahead) {
    const Poll<Result<std::size_t>> filled = poll_fill(cx);
    if (filled.is_pending()) return false;
    if (!filled.value()) return true;
  }
  return has_ended_;
}

// --- Sending, and the end. -----------------------------------------------------------------------

/// Of a connection that is merely closed, the system keeps what was not taken yet, megabytes maybe,
/// for as long as the peer says that it is still there; so it is reset.
Poll<Result<void>> Connection::wait_until_taken(Context& cx) {
  if (!alarm_.has_passed(cx, sending_.deadline())) return pending;
  if (tcp_socket_ >= 0) (void)sys::set_linger(tcp_socket_, 0);
  return Poll<Result<void>>::ready(Error::too_slow);
}

Poll<Result<void>> Connection::poll_send(Context& cx) {
  using Ready = Poll<Result<void>>;
  while (sent_ < out_.size() + behind_.size()) {
    const std::size_t of_out = std::min(sent_, out_.size());
    const std::array<io::Buffer, 2> left{io::Buffer(out_.data() + of_out, out_.size() - of_out),
                                         io::Buffer(behind_.substr(sent_ - of_out))};
    const Poll<Result<std::size_t>> polled =
        behind_.empty() ? stream_.poll_write(cx, left[0]) : stream_.poll_writev(cx, left);
    if (polled.is_pending()) return wait_until_taken(cx);
    if (!polled.value()) return Ready::ready(polled.value().error());
    if (*polled.value() == 0) return Ready::ready(io::Error::write_zero);
    sent_ += *polled.value();
    sending_.add(*polled.value());
    needs_flush_ = true;
  }
  if (needs_flush_) {
    const Poll<Result<void>> flushed = stream_.poll_flush(cx);
    if (flushed.is_pending()) return wait_until_taken(cx);
    if (!flushed.value()) return flushed;
    needs_flush_ = false;
    sending_.stop_waiting();
  }
  sent_ = 0;
  behind_ = {};
  if (out_.capacity() > 2 * most_gathered) out_ = std::string();
  out_.clear();
  return Ready::ready(Result<void>());
}

void Connection::end_exchange() noexcept {
  set_body(nullptr);
  wait_ = Wait::idle;
  waits_since_.reset();
  discarded_ = 0;
  receiving_.restart();
  sending_.restart();
  if (!has_read_body()) {
    lingers_ = true;
    return;
  }
  parser_.next();
}

Poll<bool> Connection::poll_discard_body(Context& cx) {
  std::array<std::byte, 4096> scratch;
  while (!has_read_body() && discarded_ < most_discarded) {
    const Poll<Result<std::size_t>> polled = poll_body(cx, scratch);
    if (polled.is_pending()) {
      if (!waits_since_) waits_since_ = time::now();
      if (!alarm_.has_passed(cx, time::add(*waits_since_, discard_time))) return pending;
      break;
    }
    if (!polled.value()) break;
    discarded_ += *polled.value();
  }
  waits_since_.reset();
  return Poll<bool>::ready(has_read_body());
}

Poll<> Connection::poll_close(Context& cx) {
  if (!has_shut_down_) {
    const Poll<Result<void>> sent = poll_send(cx);
    if (sent.is_pending()) return pending;
    if (!sent.value()) return Poll<>::ready();
    if (!waits_since_) waits_since_ = time::now();
    const Poll<Result<void>> ended = stream_.poll_shutdown(cx);
    if (ended.is_pending()) {
      if (!alarm_.has_passed(cx, time::add(*waits_since_, discard_time))) return pending;
      return Poll<>::ready();
    }
    if (!ended.value()) return Poll<>::ready();
    has_shut_down_ = true;
  }
  return poll_linger(cx) ? Poll<>::ready() : Poll<>(pending);
}

/// True: it need not linger any longer.
bool Connection::poll_linger(Context& cx) {
  if (!lingers_ && in_.empty()) return true;
  std::array<std::byte, 4096> scratch;
  while (!has_ended_ && discarded_ < most_discarded) {
    const Poll<Result<std::size_t>> polled = stream_.poll_read(cx, scratch);
    if (polled.is_pending()) {
      return alarm_.has_passed(cx, time::add(*waits_since_, discard_time));
    }
    if (!polled.value() || *polled.value() == 0) return true;
    discarded_ += *polled.value();
  }
  return true;
}

io::AnyConnection Connection::take_stream() {
  if (in_.empty()) return std::move(stream_);
  return Rewound(std::move(stream_), std::exchange(in_, io::FrameBuffer()));
}

}  // namespace rouse::http
