// flat_map(s, fn): `fn(item)` returns a stream; the items are those of the first, then those of
// the second, and so on, as with flatten(map(s, fn)).
//
//   auto words = stream::flat_map(lines, [](std::string line) { return stream::iter(split(line));
//   });
//
// poll_next throws what `s`, `fn` or a stream throws; they continue.
// Cancel safety: dropping it drops the stream that is being read; dropping next() loses nothing.
#pragma once

#include <utility>

#include "rouse/stream/flatten.hpp"
#include "rouse/stream/map.hpp"

namespace rouse::stream {

template <class S, class Fn>
auto flat_map(S&& stream, Fn&& fn) {
  return stream::flatten(stream::map(std::forward<S>(stream), std::forward<Fn>(fn)));
}

}  // namespace rouse::stream
