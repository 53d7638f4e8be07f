// poll_fn(fn): a stream made of its poll function, `Poll<std::optional<T>> fn(Context&)`. The way
// to write a leaf stream in place; what can be written with await and co_yield is an AsyncStream.
// The function keeps the contract of every stream (core/stream.hpp): pending means that it has kept
// the context's waker. It is called with a step of the budget taken.
// Cancel safety: dropping it drops the function; what that means is up to its captures.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/core/movable_until_polled.hpp"
#include "rouse/core/stream.hpp"

namespace rouse::stream {

/// T of Poll<std::optional<T>>; nothing for any other type.
template <class P>
struct PollNextItem {};
template <class T>
struct PollNextItem<PollNext<T>> {
  using Type = T;
};

template <class Fn>
concept PollNextFunction =
    requires { typename PollNextItem<std::invoke_result_t<Fn&, Context&>>::Type; };

template <PollNextFunction Fn>
class [[nodiscard(
    "a stream does nothing until it is read: write `while (auto item = co_await "
    "next(s))`")]] PollFn {
 public:
  using Item = typename PollNextItem<std::invoke_result_t<Fn&, Context&>>::Type;

  explicit PollFn(Fn fn) : fn_(std::move(fn)) {}

  PollNext<Item> poll_next(Context& cx) {
    move_check_.set_polled();
    if (!cx.take_budget()) return pending;
    return fn_(cx);
  }

 private:
  Fn fn_;
  MovableUntilPolled move_check_;
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
