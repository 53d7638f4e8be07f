// try_fold(s, init, fn): reads `s`, a stream of Results, to its end and computes
// `value = fn(value, item)` for each value in it, starting with `init`. The output is the last
// value. `fn` returns a value, or a Result of one.
//
// Completes when `s` has ended, or with the first error of an item or of `fn`. A stream passed as
// an lvalue is borrowed, and can be read on after an error.
// Cancel safety: dropping it loses the value so far; so does an error.
// Errors: the first of an item or of `fn`. The poll throws what `s` or `fn` throws.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/stream/internal/try_read.hpp"

namespace rouse::stream {

template <class S, class T, class Fn>
auto try_fold(S&& stream, T&& init, Fn&& fn) {
  if constexpr (internal::can_try_stream<internal::read_t<S>>()) {
    using Item = item_t<internal::read_t<S>>;
    using Value = std::decay_t<T>;
    static_assert(internal::Takes<std::decay_t<Fn>, Value, typename Item::value_type>,
                  "try_fold(s, init, fn): fn takes (value, item) and returns the next value, or a "
                  "Result of it");
    return internal::try_read<Value>(
        std::forward<S>(stream), std::forward<T>(init),
        [fn = std::forward<Fn>(fn)](Value& value, Item&& item) mutable -> Result<void> {
          Result<Value> next = fn(std::move(value), *std::move(item));
          return std::move(next).map([&](Value&& made) { value = std::move(made); });
        });
  }
}

}  // namespace rouse::stream
