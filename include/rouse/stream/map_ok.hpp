// map_ok(s, fn): `s` gives Results; each value is turned into `fn(value)`, errors stay as they
// are. poll_next throws what `s` or `fn` throws; the item is lost and the stream continues.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/stream/internal/try_read.hpp"
#include "rouse/stream/map.hpp"

namespace rouse::stream {

template <class S, class Fn>
auto map_ok(S&& stream, Fn&& fn) {
  if constexpr (internal::can_try_stream<S>()) {
    using Item = item_t<std::remove_cvref_t<S>>;
    constexpr bool fits = internal::TakesValue<std::decay_t<Fn>, Item>;
    static_assert(fits, "map_ok(s, fn): fn can't be called with a value of s");
    if constexpr (fits) {
      return stream::map(std::forward<S>(stream), [fn = std::forward<Fn>(fn)](Item&& item) mutable {
        return std::move(item).map(fn);
      });
    }
  }
}

}  // namespace rouse::stream
