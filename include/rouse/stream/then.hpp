// then(s, fn): runs the future `fn(item)` of each item of `s`, one after another; their outputs are
// the items. Unit stands for a void output, a pointer for a reference. `s` is asked for its next
// item when the future before is done; `buffered` runs several at once.
// What `s`, `fn` or a future throws, poll_next throws; the item is lost and the stream may go on.
// Cancel safety: dropping it drops the future that runs, with its item.
#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/future/child.hpp"
#include "rouse/stream/source.hpp"

namespace rouse::stream {

template <Stream S, class Fn>
class [[nodiscard(
    "a stream does nothing until it is read: write `while (auto item = co_await next(s))`")]] Then {
  using F = std::remove_cvref_t<std::invoke_result_t<Fn&, item_t<S>>>;

 public:
  using Item = stored_t<output_t<F>>;

  Then(S stream, Fn fn) : source_(std::move(stream)), fn_(std::move(fn)) {}
  Then(Then&& other) : source_(std::move(other.source_)), fn_(std::move(other.fn_)) {}

  PollNext<Item> poll_next(Context& cx) {
    if (!running_) {
      auto polled = source_.poll_next(cx);
      if (!has_item(polled)) return without_item<Item>(polled);
      running_.emplace(fn_(take_item(polled)));
    }
    Outcome<output_t<F>> outcome;
    if (!finish_into(outcome, running_, cx)) return pending;
    if (outcome.is_error()) std::rethrow_exception(outcome.error());
    return PollNext<Item>::ready(std::move(outcome.stored()));
  }

  /// Whether the stream or the future borrows: see Async::borrows. The function is not looked into.
  [[nodiscard]] bool borrows() const noexcept {
    return source_.borrows() || (running_ && future_borrows(*running_));
  }

 private:
  Source<S> source_;
  Fn fn_;
  std::optional<F> running_;
};

template <class S, class Fn>
auto then(S&& stream, Fn&& fn) {
  if constexpr (can_keep_stream<S>()) {
    using Kept = std::remove_cvref_t<S>;
    using KeptFn = std::decay_t<Fn>;
    constexpr bool fits = Takes<KeptFn, item_t<Kept>>;
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
