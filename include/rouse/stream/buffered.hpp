// buffered(s, n): `s` gives futures; at most `n` of them run concurrently, and their outputs are
// the items, in the order of `s`. Unit stands for a void output, a pointer for a reference.
//
// An output that waits for its turn counts as one of the `n`: head-of-line blocking. A poll first
// takes futures out of `s` until there are `n`, then polls the woken ones. They all run in the task
// that polls this stream. poll_next throws at once what `s` throws, and in its turn what a future
// throws; the others continue.
// Cancel safety: dropping it drops the futures, and the outputs that wait for their turn; dropping
// next() loses nothing.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "rouse/future/futures_ordered.hpp"
#include "rouse/stream/buffer_unordered.hpp"

namespace rouse::stream {

template <Stream S>
using Buffered = internal::FutureBuffer<S, FuturesOrdered<item_t<S>>>;

template <class S>
auto buffered(S&& stream, std::size_t limit) {
  if constexpr (internal::can_keep_futures<S>()) {
    return Buffered<std::remove_cvref_t<S>>(std::forward<S>(stream), limit);
  }
}

}  // namespace rouse::stream
