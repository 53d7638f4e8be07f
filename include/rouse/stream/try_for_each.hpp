// try_for_each(s, fn): reads `s`, a stream of Results, to its end and calls `fn(value)` for each
// value in it. `fn` returns nothing or a Result<void>, or a future of one of them, which completes
// before the next item is polled.
//
//   co_await stream::try_for_each(frames, [&](Frame frame) { return out.send(frame).result(); });
//
// Completes when `s` has ended, or with the first error of an item or of `fn`. A stream passed as
// an lvalue is borrowed, and can be read on after an error.
// Cancel safety: dropping it drops the running future, with its item.
// Errors: the first of an item or of `fn`. The poll throws what `s`, `fn` or its future throws.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "rouse/stream/and_then.hpp"
#include "rouse/stream/internal/try_read.hpp"

namespace rouse::stream {

template <class S, class Fn>
auto try_for_each(S&& stream, Fn&& fn) {
  using Own = internal::read_t<S>;
  if constexpr (internal::can_try_stream<Own>()) {
    using Item = item_t<Own>;
    constexpr bool fits = internal::TakesValue<std::decay_t<Fn>, Item>;
    static_assert(fits, "try_for_each(s, fn): fn can't be called with a value of s");
    if constexpr (fits) {
      using Made = decltype(internal::call_with_value(fn, std::declval<Item>()));
      constexpr bool gives_result = std::is_void_v<Made> || std::convertible_to<Made, Result<void>>;
      static_assert(gives_result || Future<Made>,
                    "try_for_each(s, fn): fn returns nothing, a Result<void>, or a future of that");
      if constexpr (Future<Made>) {
        return internal::try_read<void>(
            stream::and_then(Own(std::forward<S>(stream)), std::forward<Fn>(fn)), Unit(),
            [](Unit, auto&&) { return Result<void>(); });
      } else if constexpr (gives_result) {
        return internal::try_read<void>(
            std::forward<S>(stream), Unit(),
            [fn = std::forward<Fn>(fn)](Unit, Item&& item) mutable -> Result<void> {
              if constexpr (std::is_void_v<Made>)
                return std::move(item).map(fn);
              else
                return internal::call_with_value(fn, std::move(item));
            });
      }
    }
  }
}

}  // namespace rouse::stream
