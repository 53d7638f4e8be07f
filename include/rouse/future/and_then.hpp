// and_then(f, fn): runs `f` and calls `fn(output)` (without an argument if `f` is void). If that
// returns a future, runs it too: its output is the output of the whole. If `fn` returns a plain
// value, that is the output, as with map.
//
// `f` is destroyed before `fn` is called. The second future is polled at once, in the same poll.
// The poll throws what `f`, `fn` or the second future throws.
// Cancel safety: dropping it drops the running future; `fn` may never be called.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/future/internal/child.hpp"
#include "rouse/future/internal/continuation.hpp"
#include "rouse/future/map.hpp"

namespace rouse {

template <Future F, class Fn>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] AndThen {
  using Second = internal::continuation_result_t<Fn, output_t<F>>;

 public:
  using Output = output_t<Second>;

  AndThen(F future, Fn fn) : step_(std::in_place_index<1>, std::move(future)), fn_(std::move(fn)) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(step_.index() == 1 || step_.index() == 2,
                 "and_then(f, fn) was polled again after it was ready");
    move_check_.set_polled();
    if (step_.index() == 1 && !begin_second(cx)) return pending;
    internal::Outcome<Output> outcome;
    if (!internal::poll_into(outcome, std::get_if<2>(&step_)->future, cx)) return pending;
    step_.template emplace<0>();
    return internal::take_ready(outcome);
  }

  /// Whether the running future borrows: see Async::borrows. The function is not checked.
  [[nodiscard]] bool borrows() const noexcept {
    if (const F* first = std::get_if<1>(&step_)) return internal::future_borrows(*first);
    const auto* second = std::get_if<2>(&step_);
    return second && internal::future_borrows(second->future);
  }

 private:
  /// Polls the first future; once it is ready the second one takes its place.
  bool begin_second(Context& cx) {
    internal::Outcome<output_t<F>> outcome;
    if (!internal::poll_into(outcome, *std::get_if<1>(&step_), cx)) return false;
    step_.template emplace<0>();
    step_.template emplace<2>(std::move(outcome), std::move(fn_));
    return true;
  }

  std::variant<Unit, F, internal::Continued<Second, output_t<F>>>
      step_;  // Unit, or nothing: it is over
  Fn fn_;
  internal::MovableUntilPolled move_check_;
};

template <class F, class Fn>
auto and_then(F&& future, Fn&& fn) {
  using Kept = std::remove_cvref_t<F>;
  using KeptFn = std::decay_t<Fn>;
  static_assert(Future<Kept>,
                "and_then needs a future: did you pass a function instead of calling it? write "
                "and_then(f(), fn)");
  static_assert(!Future<Kept> || internal::Keepable<F>,
                "and_then keeps its future by value and this one can't be copied: write "
                "and_then(std::move(f), fn)");
  if constexpr (Future<Kept> && internal::Keepable<F>) {
    constexpr bool fits = internal::takes_output<KeptFn, output_t<Kept>>;
    static_assert(fits,
                  "and_then(f, fn): fn can't be called with the output of f (with nothing if "
                  "it is void)");
    if constexpr (!fits) {
      return;
    } else if constexpr (Future<internal::continuation_result_t<KeptFn, output_t<Kept>>>) {
      return AndThen<Kept, KeptFn>(std::forward<F>(future), std::forward<Fn>(fn));
    } else {
      return Map<Kept, KeptFn>(std::forward<F>(future), std::forward<Fn>(fn));
    }
  }
}

}  // namespace rouse
