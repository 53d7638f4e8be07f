// poll_fn(fn): a future made of its poll function, `Poll<T> fn(Context&)`: a leaf future written in
// place. The function obeys the contract of every future (core/future.hpp): before it returns
// pending, it has stored the context's waker. The function and its captures are destroyed when it
// is ready.
// Cancel safety: dropping it drops the function; what that means depends on its captures.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/core/future.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"

namespace rouse {

namespace internal {

/// T of Poll<T>; nothing for any other type.
template <class P>
struct PollValue {};
template <class T>
struct PollValue<Poll<T>> {
  using Type = T;
};

}  // namespace internal

/// The argument of poll_fn: a function of a Context& that returns a Poll.
template <class Fn>
concept PollFunction =
    requires { typename internal::PollValue<std::invoke_result_t<Fn&, Context&>>::Type; };

template <PollFunction Fn>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] PollFn {
 public:
  using Output = typename internal::PollValue<std::invoke_result_t<Fn&, Context&>>::Type;

  explicit PollFn(Fn fn) : fn_(std::move(fn)) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(fn_.has_value(), "poll_fn(fn) was polled again after it was ready");
    move_check_.set_polled();
    Poll<Output> result = (*fn_)(cx);
    if (result.is_ready()) fn_.reset();
    return result;
  }

 private:
  std::optional<Fn> fn_;
  internal::MovableUntilPolled move_check_;
};

template <class Fn>
auto poll_fn(Fn&& fn) {
  using Kept = std::decay_t<Fn>;
  static_assert(PollFunction<Kept>,
                "poll_fn needs a function that takes rouse::Context& and returns rouse::Poll<T>");
  if constexpr (PollFunction<Kept>) return PollFn<Kept>(std::forward<Fn>(fn));
}

}  // namespace rouse
