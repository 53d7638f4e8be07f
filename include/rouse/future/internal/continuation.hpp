// A continuation: the function that map and and_then call with what a future gave. For a void
// future it takes nothing.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/core/outcome.hpp"

namespace rouse {

/// Whether `Fn` can be called with an output of type T.
template <class Fn, class T>
inline constexpr bool takes_output = std::is_invocable_v<Fn, T>;
template <class Fn>
inline constexpr bool takes_output<Fn, void> = std::is_invocable_v<Fn>;

template <class Fn, class T>
using continuation_result_t = typename std::conditional_t<std::is_void_v<T>, std::invoke_result<Fn>,
                                                          std::invoke_result<Fn, T>>::type;

/// `fn(value)`; or throws what is in `outcome`.
template <class Fn, class T>
continuation_result_t<Fn, T> call_with(Fn&& fn, Outcome<T>& outcome) {
  if constexpr (std::is_void_v<T>) {
    outcome.take();
    return std::forward<Fn>(fn)();
  } else {
    return std::forward<Fn>(fn)(outcome.take());
  }
}

}  // namespace rouse
