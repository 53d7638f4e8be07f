// next(s): a future of the next item of `s`, or of an empty optional at its end. Borrows `s`.
//
//   while (auto item = co_await stream::next(s)) use(*item);
//
// Completes when poll_next of `s` does; throws what that throws.
// Cancel safety: dropping it loses nothing.
#pragma once

#include <type_traits>

#include "rouse/core/stream.hpp"

namespace rouse::stream {

template <class S>
auto next(S&& stream) noexcept {
  using Read = std::remove_reference_t<S>;
  static_assert(Stream<Read>,
                "next needs a rouse::Stream that is not const: a type with `using Item = T;` and "
                "`rouse::Poll<std::optional<T>> poll_next(rouse::Context&)`");
  static_assert(!Stream<Read> || std::is_lvalue_reference_v<S>,
                "next(s) borrows the stream: keep it in a variable, the rest of it would be lost");
  if constexpr (Stream<Read> && std::is_lvalue_reference_v<S>) return Next<Read>(stream);
}

}  // namespace rouse::stream
