// map_while(s, fn): `fn(item)` returns a std::optional; the items are the values of these, until
// the first that is empty: then `s` is dropped. poll_next throws what `s` or `fn` throws; the item
// is lost and the stream continues.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/stream/filter_map.hpp"
#include "rouse/stream/internal/source.hpp"

namespace rouse::stream {

template <Stream S, class Fn>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] MapWhile {
  using Mapped = std::remove_cvref_t<std::invoke_result_t<Fn&, item_t<S>>>;
  static_assert(internal::is_optional<Mapped>,
                "this needs a function that returns a std::optional");

 public:
  using Item = typename Mapped::value_type;

  MapWhile(S stream, Fn fn) : source_(std::move(stream)), fn_(std::move(fn)) {}

  PollNext<Item> poll_next(Context& cx) {
    auto polled = source_.poll_next(cx);
    if (!internal::has_item(polled)) return internal::without_item<Item>(polled);
    Mapped mapped = fn_(internal::take_item(polled));
    if (!mapped) source_.end();
    return PollNext<Item>::ready(std::move(mapped));
  }

  /// Whether the stream borrows: see Async::borrows. The function is not checked.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(MapWhile, nullptr, one, &MapWhile::source_)

 private:
  internal::Source<S> source_;
  Fn fn_;
};

template <class S, class Fn>
auto map_while(S&& stream, Fn&& fn) {
  if constexpr (internal::can_keep_stream<S>()) {
    using Kept = std::remove_cvref_t<S>;
    constexpr bool fits = internal::Takes<std::decay_t<Fn>, item_t<Kept>>;
    static_assert(fits, "map_while(s, fn): fn can't be called with an item of s");
    if constexpr (fits) {
      return MapWhile<Kept, std::decay_t<Fn>>(std::forward<S>(stream), std::forward<Fn>(fn));
    }
  }
}

}  // namespace rouse::stream
