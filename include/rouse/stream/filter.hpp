// filter(s, fn): the items of `s` for which `fn(item)` is true. `fn` sees them as const.
// What `s` or `fn` throws, poll_next throws; the item is lost and the stream may go on.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "rouse/stream/source.hpp"

namespace rouse::stream {

/// Says yes or no to an item.
template <class Fn, class T>
concept Predicate = requires(Fn& fn, const T& item) {
  { fn(item) } -> std::convertible_to<bool>;
};

template <Stream S, Predicate<item_t<S>> Fn>
class [[nodiscard(
    "a stream does nothing until it is read: write `while (auto item = co_await "
    "next(s))`")]] Filter {
 public:
  using Item = item_t<S>;

  Filter(S stream, Fn fn) : source_(std::move(stream)), fn_(std::move(fn)) {}

  PollNext<Item> poll_next(Context& cx) {
    for (;;) {
      auto polled = source_.poll_next(cx);
      if (!has_item(polled) || fn_(std::as_const(*polled.value()))) return polled;
    }
  }

  /// Whether the stream borrows: see Async::borrows. The function is not looked into.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }

 private:
  Source<S> source_;
  Fn fn_;
};

/// Makes an adapter of a stream and a predicate.
template <template <class, class> class Adapter, class S, class Fn>
auto with_predicate(S&& stream, Fn&& fn) {
  if constexpr (can_keep_stream<S>()) {
    using Kept = std::remove_cvref_t<S>;
    constexpr bool fits = Predicate<std::decay_t<Fn>, item_t<Kept>>;
    static_assert(fits, "this needs a function that takes `const Item&` and returns a bool");
    if constexpr (fits) {
      return Adapter<Kept, std::decay_t<Fn>>(std::forward<S>(stream), std::forward<Fn>(fn));
    }
  }
}

template <class S, class Fn>
auto filter(S&& stream, Fn&& fn) {
  return with_predicate<Filter>(std::forward<S>(stream), std::forward<Fn>(fn));
}

}  // namespace rouse::stream
