// skip_while(s, fn): the items of `s` from the first for which `fn(item)` is false; `fn` is not
// called after that. `fn` sees the items as const. poll_next throws what `s` or `fn` throws; the
// item is lost and the stream continues.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <utility>

#include "rouse/stream/filter.hpp"

namespace rouse::stream {

template <class S, class Fn>
auto skip_while(S&& stream, Fn&& fn) {
  if constexpr (internal::takes_predicate<S, Fn>()) {
    return stream::filter(std::forward<S>(stream),
                          [fn = std::forward<Fn>(fn), skips = true](const auto& item) mutable {
                            return !(skips = skips && fn(item));
                          });
  }
}

}  // namespace rouse::stream
