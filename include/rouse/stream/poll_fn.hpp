// poll_fn(fn): a stream made of its poll function, `Poll<std::optional<T>> fn(Context&)`: a leaf
// stream written in place; where await and co_yield suffice, use an AsyncStream. The function obeys
// the contract of every stream (core/stream.hpp): before it returns pending, it has stored the
// context's waker. A step of the budget is taken before each call.
// Cancel safety: dropping it drops the function; what that means depends on its captures.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/core/stream.hpp"

namespace rouse::internal {

/// T of Poll<std::optional<T>>; nothing for any other type.
template <class P>
struct PollNextItem {};

template <class T>
struct PollNextItem<PollNext<T>> {
  using Type = T;
};

}  // namespace rouse::internal

namespace rouse::stream {

/// The argument of stream::poll_fn: a function of a Context& that returns a Poll of a
/// std::optional.
template <class Fn>
concept PollNextFunction =
    requires { typename internal::PollNextItem<std::invoke_result_t<Fn&, Context&>>::Type; };

template <PollNextFunction Fn>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] PollFn {
 public:
  using Item = typename internal::PollNextItem<std::invoke_result_t<Fn&, Context&>>::Type;

  explicit PollFn(Fn fn) : fn_(std::move(fn)) {}

  PollNext<Item> poll_next(Context& cx) {
    move_check_.set_polled();
    if (!cx.take_budget()) return pending;
    return fn_(cx);
  }

 private:
  Fn fn_;
  internal::MovableUntilPolled move_check_;
};

template <class Fn>
auto poll_fn(Fn&& fn) {
  using Kept = std::decay_t<Fn>;
  static_assert(PollNextFunction<Kept>,
                "stream::poll_fn needs a function that takes rouse::Context& and returns "
                "rouse::Poll<std::optional<T>>");
  if constexpr (PollNextFunction<Kept>) return PollFn<Kept>(std::forward<Fn>(fn));
}

}  // namespace rouse::stream
