// scan(s, state, fn): `fn(state, item)` may change the state, which lives in the stream, and
// returns a std::optional; the items are the values of these, until the first that is empty: then
// `s` is dropped.
//
//   auto totals = stream::scan(std::move(prices), 0, [](int& total, int price) {
//     return std::optional(total += price);
//   });
//
// poll_next throws what `s` or `fn` throws; the item is lost and the stream continues.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/stream/map_while.hpp"

namespace rouse::stream {

template <class S, class T, class Fn>
auto scan(S&& stream, T&& state, Fn&& fn) {
  if constexpr (internal::can_keep_stream<S>()) {
    using Item = item_t<std::remove_cvref_t<S>>;
    static_assert(internal::Takes<std::decay_t<Fn>, std::decay_t<T>&, Item>,
                  "scan(s, state, fn): fn takes (state&, item) and returns a std::optional");
    return stream::map_while(std::forward<S>(stream),
                             [state = std::forward<T>(state), fn = std::forward<Fn>(fn)](
                                 Item&& item) mutable { return fn(state, std::move(item)); });
  }
}

}  // namespace rouse::stream
