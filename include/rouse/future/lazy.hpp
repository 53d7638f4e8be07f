// lazy(fn): calls `fn()` at the first poll, and is ready with its result (void too). The poll
// throws what the function throws. The function is destroyed as soon as it has run.
// Cancel safety: if dropped before its first poll, the function never runs.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/core/future.hpp"

namespace rouse {

template <class Fn>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Lazy {
 public:
  using Output = std::invoke_result_t<Fn>;

  explicit Lazy(Fn fn) : fn_(std::move(fn)) {}

  Poll<Output> poll(Context&) {
    ROUSE_ASSERT(fn_.has_value(), "lazy(fn) was polled again after it was ready");
    Fn fn = *std::move(fn_);
    fn_.reset();
    if constexpr (std::is_void_v<Output>) {
      std::move(fn)();
      return Poll<void>::ready();
    } else {
      return Poll<Output>::ready(std::move(fn)());
    }
  }

 private:
  std::optional<Fn> fn_;
};

template <class Fn>
auto lazy(Fn&& fn) {
  using Kept = std::decay_t<Fn>;
  static_assert(std::is_invocable_v<Kept>, "lazy needs a function that takes no arguments");
  if constexpr (std::is_invocable_v<Kept>) return Lazy<Kept>(std::forward<Fn>(fn));
}

}  // namespace rouse
