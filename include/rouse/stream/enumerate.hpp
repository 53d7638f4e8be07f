// enumerate(s): pairs of the number of an item, from 0 on, and the item.
//
//   auto lines = stream::enumerate(file.lines());
//   while (auto line = co_await stream::next(lines)) show(line->first, line->second);
//
// poll_next throws what `s` throws; that does not count as an item.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <cstddef>
#include <utility>

#include "rouse/stream/map.hpp"

namespace rouse::stream {

template <class S>
auto enumerate(S&& stream) {
  return stream::map(std::forward<S>(stream), [count = std::size_t{0}]<class T>(T&& item) mutable {
    return std::pair<std::size_t, T>(count++, std::move(item));
  });
}

}  // namespace rouse::stream
