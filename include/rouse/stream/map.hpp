// map(s, fn): the items of `s`, each turned into `fn(item)`. If that is a future, the items are
// futures: `then` runs them one by one, `buffered` several at once. poll_next throws what `s` or
// `fn` throws; the item is lost and the stream continues.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/stream/internal/source.hpp"

namespace rouse::stream {

template <Stream S, class Fn>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Map {
 public:
  using Item = std::decay_t<std::invoke_result_t<Fn&, item_t<S>>>;

  Map(S stream, Fn fn) : source_(std::move(stream)), fn_(std::move(fn)) {}

  PollNext<Item> poll_next(Context& cx) {
    auto polled = source_.poll_next(cx);
    if (!internal::has_item(polled)) return internal::without_item<Item>(polled);
    return PollNext<Item>::ready(fn_(internal::take_item(polled)));
  }

  /// Whether the stream borrows: see Async::borrows. The function is not checked.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Map, nullptr, one, &Map::source_)

 private:
  internal::Source<S> source_;
  Fn fn_;
};

template <class S, class Fn>
auto map(S&& stream, Fn&& fn) {
  if constexpr (internal::can_keep_stream<S>()) {
    using Kept = std::remove_cvref_t<S>;
    using KeptFn = std::decay_t<Fn>;
    constexpr bool fits = internal::Takes<KeptFn, item_t<Kept>>;
    static_assert(fits, "map(s, fn): fn can't be called with an item of s");
    if constexpr (fits) {
      static_assert(!std::is_void_v<std::invoke_result_t<KeptFn&, item_t<Kept>>>,
                    "map(s, fn): fn returns nothing: write for_each(s, fn)");
      return Map<Kept, KeptFn>(std::forward<S>(stream), std::forward<Fn>(fn));
    }
  }
}

}  // namespace rouse::stream
