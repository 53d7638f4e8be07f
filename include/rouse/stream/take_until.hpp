// take_until(s, f): the items of `s` until the future `f` completes. Each poll polls `f` first;
// when it is ready, both are dropped, and its output is not used.
//
//   auto orders = stream::take_until(std::move(all), token.cancelled());
//
// poll_next throws what `s` throws, and the stream continues; what `f` throws, and it has ended.
// Cancel safety: dropping it drops `f` midway; it holds no item between two polls.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "rouse/future/internal/child.hpp"
#include "rouse/stream/internal/source.hpp"

namespace rouse::stream {

template <Stream S, Future F>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] TakeUntil {
 public:
  using Item = item_t<S>;

  TakeUntil(S stream, F until)
      : source_(std::move(stream)), until_(std::in_place, std::move(until)) {}

  PollNext<Item> poll_next(Context& cx) {
    internal::Outcome<output_t<F>> outcome;
    if (until_ && internal::finish_into(outcome, until_, cx)) source_.end();
    if (outcome.is_error()) std::rethrow_exception(outcome.error());
    auto polled = source_.poll_next(cx);
    if (source_.is_over()) until_.reset();
    return polled;
  }

  /// Whether the stream or the future borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    return source_.borrows() || (until_ && internal::future_borrows(*until_));
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(TakeUntil, "take_until", any_of, &TakeUntil::source_, &TakeUntil::until_)

 private:
  internal::Source<S> source_;
  internal::Maybe<F> until_;
};

template <class S, class F>
auto take_until(S&& stream, F&& until) {
  if constexpr (internal::can_keep_stream<S>()) {
    constexpr bool fits = Future<std::remove_cvref_t<F>> && internal::Keepable<F>;
    static_assert(fits, "take_until(s, f) needs a future that it can keep: write std::move(f)");
    if constexpr (fits) {
      return TakeUntil<std::remove_cvref_t<S>, std::remove_cvref_t<F>>(std::forward<S>(stream),
                                                                       std::forward<F>(until));
    }
  }
}

}  // namespace rouse::stream
