// try_collect(s): reads `s`, a stream of Results, to its end; the output is the std::vector of all
// values. For another container name it: try_collect<std::set<int>>(s).
//
//   std::vector<Frame> all = co_await stream::try_collect(frames);
//
// Completes when `s` has ended, or with its first error. A stream passed as an lvalue is borrowed,
// and can be read on after an error.
// Cancel safety: dropping it loses the values read so far; so does an error.
// Errors: the first of an item. The poll throws what `s` throws.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/stream/internal/try_read.hpp"

namespace rouse::stream {

template <class Container = void, class S>
auto try_collect(S&& stream) {
  if constexpr (internal::can_try_stream<internal::read_t<S>>()) {
    using Item = item_t<internal::read_t<S>>;
    using Kept = std::conditional_t<std::is_void_v<Container>,
                                    std::vector<typename Item::value_type>, Container>;
    return internal::try_read<Kept>(std::forward<S>(stream), Kept(), [](Kept& all, Item&& item) {
      all.insert(all.end(), *std::move(item));
      return Result<void>();
    });
  }
}

}  // namespace rouse::stream
