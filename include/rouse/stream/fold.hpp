// fold(s, init, fn): reads `s` to its end and computes `value = fn(value, item)` for each item,
// starting with `init`. The output is the last value.
//
// Completes when `s` has ended. A stream passed as an lvalue is borrowed. The poll throws what `s`
// or `fn` throws; that ends it, and the value is lost.
// Cancel safety: dropping it loses the value so far.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/core/future.hpp"
#include "rouse/stream/by_ref.hpp"
#include "rouse/stream/internal/source.hpp"

namespace rouse::stream {

template <Stream S, class T, class Fn>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Fold {
 public:
  using Output = T;

  Fold(S stream, T init, Fn fn)
      : source_(std::move(stream)), value_(std::move(init)), fn_(std::move(fn)) {}

  Poll<T> poll(Context& cx) {
    ROUSE_ASSERT(!source_.is_over(), "fold(s, init, fn) was polled again after it was ready");
    for (;;) {
      auto polled = source_.poll_next(cx);
      if (polled.is_pending()) return pending;
      if (!internal::has_item(polled)) return Poll<T>::ready(std::move(value_));
      value_ = fn_(std::move(value_), internal::take_item(polled));
    }
  }

  /// Whether the stream is borrowed or borrows: see Async::borrows. The function is not checked.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Fold, nullptr, one, &Fold::source_)

 private:
  internal::Source<S> source_;
  T value_;
  Fn fn_;
};

template <class S, class T, class Fn>
auto fold(S&& stream, T&& init, Fn&& fn) {
  using Own = internal::read_t<S>;
  using Value = std::decay_t<T>;
  if constexpr (internal::can_keep_stream<Own>()) {
    constexpr bool fits = requires(std::decay_t<Fn>& kept, Value value, item_t<Own> item) {
      value = kept(std::move(value), std::move(item));
    };
    static_assert(
        fits,
        "fold(s, init, fn): fn takes (value, item) and returns the next value, of the type "
        "of init; if it has to wait, write the loop with co_await stream::next(s)");
    if constexpr (fits) {
      return Fold<Own, Value, std::decay_t<Fn>>(Own(std::forward<S>(stream)), std::forward<T>(init),
                                                std::forward<Fn>(fn));
    }
  }
}

}  // namespace rouse::stream
