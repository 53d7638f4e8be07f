// for_each_concurrent(s, n, fn): reads `s` to its end and runs the future `fn(item)` for each item,
// at most `n` concurrently. Their outputs are ignored. They run in the task that polls this: to use
// several threads, spawn in `fn`.
//
// Completes when `s` has ended and all futures are done. A stream passed as an lvalue is borrowed.
// The poll throws the first exception of `s`, `fn` or a future; that ends it, and the futures that
// still run are dropped with it.
// Cancel safety: dropping it drops the running futures, with their items.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "rouse/stream/buffer_unordered.hpp"
#include "rouse/stream/by_ref.hpp"
#include "rouse/stream/for_each.hpp"
#include "rouse/stream/map.hpp"

namespace rouse::stream {

template <class S, class Fn>
auto for_each_concurrent(S&& stream, std::size_t limit, Fn&& fn) {
  using Own = internal::read_t<S>;
  if constexpr (internal::can_keep_stream<Own>()) {
    using KeptFn = std::decay_t<Fn>;
    constexpr bool fits = internal::Takes<KeptFn, item_t<Own>>;
    static_assert(fits, "for_each_concurrent(s, n, fn): fn can't be called with an item of s");
    if constexpr (fits) {
      constexpr bool runs = Future<std::remove_cvref_t<std::invoke_result_t<KeptFn&, item_t<Own>>>>;
      static_assert(runs,
                    "for_each_concurrent(s, n, fn): fn returns no future, so there is nothing to "
                    "run at the same time: write for_each(s, fn)");
      if constexpr (runs) {
        using Running = BufferUnordered<Map<Own, KeptFn>>;
        Map<Own, KeptFn> futures(Own(std::forward<S>(stream)), std::forward<Fn>(fn));
        return ForEach<Running, internal::Ignore>(Running(std::move(futures), limit),
                                                  internal::Ignore());
      }
    }
  }
}

}  // namespace rouse::stream
