// A continuation: the function that map and and_then call with what a future gave. For a void
// future it takes nothing.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "rouse/core/internal/outcome.hpp"

namespace rouse::internal {

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

/// A future that a function made of an output. It may refer to the output until it ends: a
/// coroutine that takes its argument as `const T&` does.
template <class F, class T>
class Continued {
 public:
  /// Throws what is in `output`, or what `fn` throws.
  template <class Fn>
  Continued(Outcome<T>&& output, Fn&& fn)
      : output_(std::move(output)), future(make(std::forward<Fn>(fn))) {}

 private:
  template <class Fn>
  F make(Fn&& fn) {
    if constexpr (std::is_void_v<T> || std::is_reference_v<T>) {
      return call_with(std::forward<Fn>(fn), output_);
    } else {
      if (output_.is_error()) std::rethrow_exception(output_.error());
      return std::forward<Fn>(fn)(std::move(output_.stored()));
    }
  }

  Outcome<T> output_;  // destroyed after the future

 public:
  F future;
};

}  // namespace rouse::internal
