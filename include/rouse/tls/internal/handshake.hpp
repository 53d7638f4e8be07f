// The handshake, over any stream: TlsHandshake polls it, tls_handshake limits its time and makes a
// tls::Stream of it.
#pragma once

#include <system_error>
#include <utility>

#include "rouse/base/shape.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/runtime/deadline.hpp"
#include "rouse/tls/internal/session.hpp"
#include "rouse/tls/stream.hpp"

namespace rouse::internal {

/// Until the handshake is over it has the stream to itself: it alone reads and writes in turns.
template <class S>
class TlsHandshake : public ResultFuture<TlsHandshake<S>, void> {
 public:
  TlsHandshake(S& stream, TlsSession& session) noexcept : stream_(&stream), session_(&session) {}

  Poll<Result<void>> poll_result(Context& cx) {
    for (;;) {
      const Poll<Result<void>> step = session_->handshake();
      const bool is_done = step.is_ready() && step.value();
      // What it made goes out first, also an alert that says what is wrong.
      const Poll<Result<void>> sent = poll_flush(cx);
      if (is_done && session_->may_send_later()) return step;
      if (sent.is_pending()) return pending;
      if (step.is_ready()) return is_done ? sent : step;
      // Though nothing can be sent any more: a peer that went may have said why.
      Poll<Result<void>> received = session_->poll_receive(cx, *stream_);
      if (received.is_pending()) return pending;
      if (!received.value()) return sent.value() ? received : sent;
    }
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(TlsHandshake, "TLS handshake", one, &TlsHandshake::stream_)

 private:
  Poll<Result<void>> poll_flush(Context& cx) {
    if (const Result<void> before = session_->check_sending(); !before)
      return Poll<Result<void>>::ready(before);
    Poll<Result<void>> sent = session_->poll_send(cx, *stream_);
    if (sent.is_ready() && sent.value()) sent = stream_->poll_flush(cx);
    if (sent.is_ready() && !sent.value()) session_->fail_sending(sent.value().error());
    return sent;
  }

  S* stream_;
  TlsSession* session_;
};

/// Throws what TlsSession::throw_failure says.
template <class S>
AsyncResult<tls::Stream<S>> tls_handshake(S stream, TlsSession session) {
  const time::Nanoseconds limit = session.handshake_timeout();
  TlsHandshake<S> handshake(stream, session);
  Result<void> done;
  if (limit == time::Nanoseconds::max() && !Deadline::current()) {
    done = co_await std::move(handshake).result();
  } else {
    done = co_await timeout_or_deadline(limit, std::move(handshake)).result();
  }
  if (!done) session.throw_failure(done.error());
  co_return tls::Stream<S>(std::move(stream), std::move(session));
}

}  // namespace rouse::internal
