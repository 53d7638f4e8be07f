// then(s, fn): runs the future `fn(item)` of each item of `s`, one after another; their outputs are
// the items. Unit stands for a void output, a pointer for a reference. `s` is polled for its next
// item when the previous future is done; `buffered` runs several at once. poll_next throws what
// `s`, `fn` or a future throws; the item is lost and the stream continues.
// Cancel safety: dropping it drops the running future, with its item.
#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/future/internal/child.hpp"
#include "rouse/stream/internal/source.hpp"

namespace rouse::stream {

template <Stream S, class Fn>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Then {
  using F = std::remove_cvref_t<std::invoke_result_t<Fn&, item_t<S>>>;

 public:
  using Item = stored_t<output_t<F>>;

  Then(S stream, Fn fn) : source_(std::move(stream)), fn_(std::move(fn)) {}
  Then(Then&& other) : source_(std::move(other.source_)), fn_(std::move(other.fn_)) {}

  PollNext<Item> poll_next(Context& cx) {
    if (!running_) {
      auto polled = source_.poll_next(cx);
      if (!internal::has_item(polled)) return internal::without_item<Item>(polled);
      running_.emplace(fn_(internal::take_item(polled)));
    }
    internal::Outcome<output_t<F>> outcome;
    if (!internal::finish_into(outcome, running_, cx)) return pending;
    if (outcome.is_error()) std::rethrow_exception(outcome.error());
    return PollNext<Item>::ready(std::move(outcome.stored()));
  }

  /// Whether the stream or the future borrows: see Async::borrows. The function is not checked.
  [[nodiscard]] bool borrows() const noexcept {
    return source_.borrows() || (running_ && internal::future_borrows(*running_));
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Then, "then", all_of, &Then::source_, &Then::running_)

 private:
  internal::Source<S> source_;
  Fn fn_;
  internal::Maybe<F> running_;
};

template <class S, class Fn>
auto then(S&& stream, Fn&& fn) {
  if constexpr (internal::can_keep_stream<S>()) {
    using Kept = std::remove_cvref_t<S>;
    using KeptFn = std::decay_t<Fn>;
    constexpr bool fits = internal::Takes<KeptFn, item_t<Kept>>;
    static_assert(fits, "then(s, fn): fn can't be called with an item of s");
    if constexpr (fits) {
      constexpr bool runs =
          Future<std::remove_cvref_t<std::invoke_result_t<KeptFn&, item_t<Kept>>>>;
      static_assert(runs, "then(s, fn): fn returns no future: write map(s, fn)");
      if constexpr (runs) {
        return Then<Kept, KeptFn>(std::forward<S>(stream), std::forward<Fn>(fn));
      }
    }
  }
}

}  // namespace rouse::stream
