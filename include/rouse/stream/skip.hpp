// skip(s, n): the items of `s` after the first `n`. poll_next throws what `s` throws; that does not
// count as an item.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <cstddef>
#include <utility>

#include "rouse/stream/filter.hpp"

namespace rouse::stream {

template <class S>
auto skip(S&& stream, std::size_t count) {
  return stream::filter(std::forward<S>(stream), [left = count](const auto&) mutable {
    if (left == 0) return true;
    --left;
    return false;
  });
}

}  // namespace rouse::stream
