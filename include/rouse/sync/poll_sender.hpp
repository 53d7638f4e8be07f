// PollSender: the sender of a bounded channel as a Sink, for stream::send, send_all and forward.
//
//   co_await stream::forward(std::move(lines), sync::PollSender(tx));
//
// When it is ready it has room in the channel, which nobody else can use until an item is sent.
// Closing it drops its sender.
#pragma once

#include <optional>
#include <system_error>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/sync/sender.hpp"

namespace rouse::sync {

/// Errors: errc::broken_pipe if nobody receives any more, or after it was closed.
template <class T>
class PollSender {
 public:
  explicit PollSender(Sender<T> sender) : state_(new State(std::move(sender))) {}

  Poll<Result<void>> poll_ready(Context& cx) {
    if (permit_) return Poll<Result<void>>::ready(Result<void>());
    if (!state_) return Poll<Result<void>>::ready(std::errc::broken_pipe);
    if (!state_->reserve) state_->reserve.emplace(state_->sender.reserve());
    Poll<SendPermit<T>> polled = state_->reserve->poll(cx);
    if (polled.is_pending()) return pending;
    state_->reserve.reset();
    permit_ = std::move(polled).value();
    if (!permit_) return Poll<Result<void>>::ready(std::errc::broken_pipe);
    return Poll<Result<void>>::ready(Result<void>());
  }
  /// Puts the message into the channel, for which poll_ready has got room.
  Result<void> start_send(T value) {
    ROUSE_ASSERT(permit_, "start_send before poll_ready was ready");
    return permit_.send(std::move(value));
  }
  Poll<Result<void>> poll_flush(Context&) { return Poll<Result<void>>::ready(Result<void>()); }
  /// See Sink: drops the sender.
  Poll<Result<void>> poll_close(Context&) {
    permit_ = SendPermit<T>();
    state_ = nullptr;
    return Poll<Result<void>>::ready(Result<void>());
  }

 private:
  /// Does not move: a reservation that waits has its place in the channel's queue.
  struct State {
    explicit State(Sender<T> tx) noexcept : sender(std::move(tx)) {}
    Sender<T> sender;
    std::optional<Reserve<T>> reserve;
  };
  internal::Box<State> state_;  // null: closed
  SendPermit<T> permit_;
};

}  // namespace rouse::sync
