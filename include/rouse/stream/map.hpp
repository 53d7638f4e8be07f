// map(s, fn): the items of `s`, each turned into `fn(item)`. If that is a future, the items are
// futures: `then` runs them one by one, `buffered` several at once.
// What `s` or `fn` throws, poll_next throws; the item is lost and the stream may go on.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/stream/source.hpp"

namespace rouse::stream {

template <Stream S, class Fn>
class [[nodiscard(
    "a stream does nothing until it is read: write `while (auto item = co_await next(s))`")]] Map {
 public:
  using Item = std::decay_t<std::invoke_result_t<Fn&, item_t<S>>>;

  Map(S stream, Fn fn) : source_(std::move(stream)), fn_(std::move(fn)) {}

  PollNext<Item> poll_next(Context& cx) {
    auto polled = source_.poll_next(cx);
    if (!has_item(polled)) return without_item<Item>(polled);
    return PollNext<Item>::ready(fn_(take_item(polled)));
  }

  /// Whether the stream borrows: see Async::borrows. The function is not looked into.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }

 private:
  Source<S> source_;
  Fn fn_;
};

template <class S, class Fn>
auto map(S&& stream, Fn&& fn) {
  if constexpr (can_keep_stream<S>()) {
    using Kept = std::remove_cvref_t<S>;
    using KeptFn = std::decay_t<Fn>;
    constexpr bool fits = Takes<KeptFn, item_t<Kept>>;
    static_assert(fits, "map(s, fn): fn can't be called with an item of s");
    if constexpr (fits) {
      static_assert(!std::is_void_v<std::invoke_result_t<KeptFn&, item_t<Kept>>>,
                    "map(s, fn): fn returns nothing: write for_each(s, fn)");
      return Map<Kept, KeptFn>(std::forward<S>(stream), std::forward<Fn>(fn));
    }
  }
}

}  // namespace rouse::stream
