// send(sink, item), feed(sink, item), flush(sink), close(sink): one thing done with a Sink.
//
//   co_await stream::feed(sink, first);        // it may stay in the sink
//   co_await stream::send(sink, second);       // both have left it
//   co_await stream::close(sink);
//
// They borrow the sink, which must neither move nor be destroyed before them.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/core/sink.hpp"

namespace rouse::internal {

/// Whether a sink is flushed after an item was sent.
enum class AfterSend { flush, nothing };

/// Whether a sink is flushed or closed.
enum class Emptying { flush, close };

/// What send and its like need: a sink for the item, or the program does not compile.
template <class S, class T>
constexpr bool can_send() noexcept {
  static_assert(
      Sink<S, T>,
      "this needs a rouse::Sink for such items: a type with poll_ready, start_send(item), "
      "poll_flush and poll_close (rouse/core/sink.hpp)");
  return Sink<S, T>;
}

}  // namespace rouse::internal

namespace rouse::stream {

/// Completes when the sink has accepted the item (`feed`), or has also passed it on (`send`).
/// Cancel safety: if dropped midway, the item is either in the sink, and leaves it with the next
/// send or flush, or is lost.
/// Errors: the sink's.
template <class S, class T>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Send
    : public ResultFuture<Send<S, T>, void> {
 public:
  Send(S& sink, T item, internal::AfterSend after)
      : sink_(&sink), item_(std::move(item)), after_(after) {}

  Poll<Result<void>> poll_result(Context& cx) {
    if (item_) {
      Poll<Result<void>> ready = sink_->poll_ready(cx);
      if (ready.is_pending() || !ready.value()) return ready;
      Result<void> started = sink_->start_send(*std::move(item_));
      item_.reset();
      if (!started) return Poll<Result<void>>::ready(std::move(started));
    }
    if (after_ == internal::AfterSend::flush) return sink_->poll_flush(cx);
    return Poll<Result<void>>::ready(Result<void>());
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Send, nullptr, one, &Send::sink_)

 private:
  S* sink_;
  std::optional<T> item_;
  internal::AfterSend after_;
};

/// The sink accepts the item and passes it on: see Send.
template <class S, class T>
auto send(S& sink ROUSE_LIFETIMEBOUND, T&& item) {
  using Kept = std::decay_t<T>;
  if constexpr (internal::can_send<S, Kept>())
    return Send<S, Kept>(sink, std::forward<T>(item), internal::AfterSend::flush);
}

/// The sink accepts the item, and may keep it for a while: see Send.
template <class S, class T>
auto feed(S& sink ROUSE_LIFETIMEBOUND, T&& item) {
  using Kept = std::decay_t<T>;
  if constexpr (internal::can_send<S, Kept>())
    return Send<S, Kept>(sink, std::forward<T>(item), internal::AfterSend::nothing);
}

/// Completes when everything has left the sink (`flush`), and it is closed (`close`).
/// Cancel safety: dropping it loses nothing: call it again.
/// Errors: the sink's.
template <class S>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] EmptySink
    : public ResultFuture<EmptySink<S>, void> {
 public:
  EmptySink(S& sink, internal::Emptying what) noexcept : sink_(&sink), what_(what) {}

  Poll<Result<void>> poll_result(Context& cx) {
    if (what_ == internal::Emptying::close) return sink_->poll_close(cx);
    return sink_->poll_flush(cx);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(EmptySink, nullptr, one, &EmptySink::sink_)

 private:
  S* sink_;
  internal::Emptying what_;
};

/// The sink passes on what it has: see EmptySink.
template <class S>
EmptySink<S> flush(S& sink ROUSE_LIFETIMEBOUND) noexcept {
  return EmptySink<S>(sink, internal::Emptying::flush);
}

/// The same, then closes it: see EmptySink.
template <class S>
EmptySink<S> close(S& sink ROUSE_LIFETIMEBOUND) noexcept {
  return EmptySink<S>(sink, internal::Emptying::close);
}

}  // namespace rouse::stream
