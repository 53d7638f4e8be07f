// take_while(s, fn): the items of `s` until the first for which `fn(item)` is false; that one is
// lost, and `s` is dropped. `fn` sees the items as const. poll_next throws what `s` or `fn` throws;
// the item is lost and the stream continues.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/stream/filter.hpp"
#include "rouse/stream/map_while.hpp"

namespace rouse::stream {

template <class S, class Fn>
auto take_while(S&& stream, Fn&& fn) {
  if constexpr (internal::takes_predicate<S, Fn>()) {
    using Item = item_t<std::remove_cvref_t<S>>;
    return stream::map_while(
        std::forward<S>(stream), [fn = std::forward<Fn>(fn)](Item&& item) mutable {
          return fn(std::as_const(item)) ? std::optional<Item>(std::move(item)) : std::nullopt;
        });
  }
}

}  // namespace rouse::stream
