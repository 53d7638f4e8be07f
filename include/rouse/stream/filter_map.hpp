// filter_map(s, fn): `fn(item)` returns a std::optional; the items are the values of those that are
// not empty. poll_next throws what `s` or `fn` throws; the item is lost and the stream continues.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/stream/internal/source.hpp"

namespace rouse::internal {

template <class T>
inline constexpr bool is_optional = false;

template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

}  // namespace rouse::internal

namespace rouse::stream {

template <Stream S, class Fn>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] FilterMap {
  using Mapped = std::remove_cvref_t<std::invoke_result_t<Fn&, item_t<S>>>;

 public:
  using Item = typename Mapped::value_type;

  FilterMap(S stream, Fn fn) : source_(std::move(stream)), fn_(std::move(fn)) {}

  PollNext<Item> poll_next(Context& cx) {
    for (;;) {
      auto polled = source_.poll_next(cx);
      if (!internal::has_item(polled)) return internal::without_item<Item>(polled);
      Mapped mapped = fn_(internal::take_item(polled));
      if (mapped) return PollNext<Item>::ready(std::move(mapped));
    }
  }

  /// Whether the stream borrows: see Async::borrows. The function is not checked.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(FilterMap, nullptr, one, &FilterMap::source_)

 private:
  internal::Source<S> source_;
  Fn fn_;
};

template <class S, class Fn>
auto filter_map(S&& stream, Fn&& fn) {
  if constexpr (internal::can_keep_stream<S>()) {
    using Kept = std::remove_cvref_t<S>;
    using KeptFn = std::decay_t<Fn>;
    constexpr bool fits = internal::Takes<KeptFn, item_t<Kept>>;
    static_assert(fits, "filter_map(s, fn): fn can't be called with an item of s");
    if constexpr (fits) {
      static_assert(
          internal::is_optional<std::remove_cvref_t<std::invoke_result_t<KeptFn&, item_t<Kept>>>>,
          "filter_map(s, fn): fn returns no std::optional: use map, or filter if it says "
          "yes or no");
      return FilterMap<Kept, KeptFn>(std::forward<S>(stream), std::forward<Fn>(fn));
    }
  }
}

}  // namespace rouse::stream
