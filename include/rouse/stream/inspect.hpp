// inspect(s, fn): the items of `s`; `fn(item)` sees each of them, as const, before it is given on.
//
//   auto logged = stream::inspect(std::move(s), [](const Order& order) { log(order.id); });
//
// poll_next throws what `s` or `fn` throws; the item is lost and the stream continues.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/stream/map.hpp"

namespace rouse::stream {

template <class S, class Fn>
auto inspect(S&& stream, Fn&& fn) {
  if constexpr (internal::can_keep_stream<S>()) {
    using Item = item_t<std::remove_cvref_t<S>>;
    static_assert(internal::Takes<std::decay_t<Fn>, const Item&>,
                  "inspect(s, fn): fn can't be called with a const item of s");
    return stream::map(std::forward<S>(stream), [fn = std::forward<Fn>(fn)](Item&& item) mutable {
      static_cast<void>(fn(std::as_const(item)));
      return std::move(item);
    });
  }
}

}  // namespace rouse::stream
