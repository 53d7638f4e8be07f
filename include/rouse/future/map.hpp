// map(f, fn): the future `f`, with its output turned into `fn(output)`. `fn` runs inside the poll
// that makes `f` ready, after `f` was destroyed; it gets no argument if `f` is void. The poll
// throws what `f` or `fn` throws. If `fn` returns a future, that future is the output: and_then
// runs it.
// Cancel safety: dropping it drops `f` and `fn`.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/future/internal/child.hpp"
#include "rouse/future/internal/continuation.hpp"

namespace rouse {

template <Future F, class Fn>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Map {
 public:
  using Output = internal::continuation_result_t<Fn, output_t<F>>;

  Map(F future, Fn fn) : future_(std::in_place, std::move(future)), fn_(std::move(fn)) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(future_.has_value(), "map(f, fn) was polled again after it was ready");
    move_check_.set_polled();
    internal::Outcome<output_t<F>> outcome;
    if (!internal::finish_into(outcome, future_, cx)) return pending;
    if constexpr (std::is_void_v<Output>) {
      internal::call_with(std::move(fn_), outcome);
      return Poll<void>::ready();
    } else {
      return Poll<Output>::ready(internal::call_with(std::move(fn_), outcome));
    }
  }

  /// Whether the future borrows: see Async::borrows. The function is not checked.
  [[nodiscard]] bool borrows() const noexcept {
    return future_ && internal::future_borrows(*future_);
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Map, nullptr, one, &Map::future_)

 private:
  internal::Maybe<F> future_;
  Fn fn_;
  internal::MovableUntilPolled move_check_;
};

template <class F, class Fn>
auto map(F&& future, Fn&& fn) {
  using Kept = std::remove_cvref_t<F>;
  static_assert(Future<Kept>,
                "map needs a future: did you pass a function instead of calling it? write "
                "map(f(), fn)");
  static_assert(!Future<Kept> || internal::Keepable<F>,
                "map keeps its future by value and this one can't be copied: write "
                "map(std::move(f), fn)");
  if constexpr (Future<Kept> && internal::Keepable<F>) {
    constexpr bool fits = internal::takes_output<std::decay_t<Fn>, output_t<Kept>>;
    static_assert(fits,
                  "map(f, fn): fn can't be called with the output of f (with nothing if it "
                  "is void)");
    if constexpr (fits) {
      return Map<Kept, std::decay_t<Fn>>(std::forward<F>(future), std::forward<Fn>(fn));
    }
  }
}

}  // namespace rouse
