// forward(s, sink): sends all items of the stream `s` to a Sink, and closes it at the end.
// send_all(sink, s): the same, but flushes the sink instead, and borrows both.
//
//   co_await stream::forward(std::move(lines), io::FramedWrite(stream, io::LinesCodec()));
//   co_await stream::send_all(sink, lines);
//
// Of a stream of Results the values are sent; the first error ends it. Whenever the stream waits,
// the sink is flushed. What is passed to `forward` as an rvalue is owned, an lvalue is borrowed.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/result.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/core/sink.hpp"
#include "rouse/stream/by_ref.hpp"
#include "rouse/stream/internal/source.hpp"
#include "rouse/stream/send.hpp"

namespace rouse::internal {

/// What is sent of an item: the value of a Result.
template <class Item>
struct SentOf {
  using Type = Item;
};
template <class T>
struct SentOf<Result<T>> {
  using Type = T;
};

template <class S>
using sent_t = typename SentOf<item_t<S>>::Type;

}  // namespace rouse::internal

namespace rouse::stream {

/// Completes when the stream has ended, all its items have left the sink, and the sink is closed
/// (`forward`). `K` is the sink, or a reference to it.
/// Cancel safety: not safe; an item that was read and not yet accepted is lost.
/// Errors: the first of an item; the sink's. After it the rest of a borrowed stream can be read,
/// and the sink is not closed. The poll throws what the stream throws.
template <Stream S, class K>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Forward
    : public ResultFuture<Forward<S, K>, void> {
 public:
  Forward(S stream, std::type_identity_t<K>&& sink, internal::Emptying at_end)
      : source_(std::move(stream)), sink_(keep(sink)), at_end_(at_end) {}

  Poll<Result<void>> poll_result(Context& cx) {
    for (;;) {
      if (item_) {
        Poll<Result<void>> ready = sink().poll_ready(cx);
        if (ready.is_pending() || !ready.value()) return ready;
        Result<void> started = sink().start_send(*std::move(item_));
        item_.reset();
        if (!started) return Poll<Result<void>>::ready(std::move(started));
      }
      auto polled = source_.poll_next(cx);
      if (polled.is_pending()) return poll_idle(cx);
      if (!polled.value()) break;
      item_t<S>& item = *polled.value();
      if constexpr (internal::is_result<item_t<S>>) {
        if (!item) return Poll<Result<void>>::ready(item.error());
        item_.emplace(*std::move(item));
      } else {
        item_.emplace(std::move(item));
      }
    }
    if (at_end_ == internal::Emptying::close) return sink().poll_close(cx);
    return sink().poll_flush(cx);
  }

  /// Whether the stream or the sink is borrowed, or borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    return std::is_reference_v<K> || source_.borrows();
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Forward, "forward", all_of, &Forward::source_, &Forward::sink_)

 private:
  static auto keep(std::remove_reference_t<K>& sink) {
    if constexpr (std::is_reference_v<K>)
      return &sink;
    else
      return std::move(sink);
  }
  std::remove_reference_t<K>& sink() noexcept {
    if constexpr (std::is_reference_v<K>)
      return *sink_;
    else
      return sink_;
  }
  /// The stream waits: what was sent is not to wait with it.
  Poll<Result<void>> poll_idle(Context& cx) {
    Poll<Result<void>> flushed = sink().poll_flush(cx);
    if (flushed.is_ready() && !flushed.value()) return flushed;
    return pending;
  }

  internal::Source<S> source_;
  std::conditional_t<std::is_reference_v<K>, std::remove_reference_t<K>*, K> sink_;
  std::optional<internal::sent_t<S>> item_;  // was read, and the sink was not ready
  internal::Emptying at_end_;
};

template <class S, class K>
auto forward(S&& stream, K&& sink) {
  using Own = internal::read_t<S>;
  if constexpr (internal::can_keep_stream<Own>()) {
    if constexpr (internal::can_send<std::remove_reference_t<K>, internal::sent_t<Own>>())
      return Forward<Own, K>(Own(std::forward<S>(stream)), std::forward<K>(sink),
                             internal::Emptying::close);
  }
}

/// See Forward.
template <class K, Stream S>
auto send_all(K& sink ROUSE_LIFETIMEBOUND, S& stream ROUSE_LIFETIMEBOUND) {
  if constexpr (internal::can_send<K, internal::sent_t<S>>())
    return Forward<StreamRef<S>, K&>(StreamRef<S>(stream), sink, internal::Emptying::flush);
}

}  // namespace rouse::stream
