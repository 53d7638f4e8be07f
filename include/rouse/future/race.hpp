// race(f...): runs futures of one output type until the first is ready; the output is its value.
//
// Each poll polls the futures in the order of the arguments and stops at the first that is ready:
// if several are, the first argument wins. All futures are destroyed before the value is returned.
// If the first to complete threw, race throws that. No allocation.
// Cancel safety: dropping it drops all futures; the losers are dropped midway.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/internal/pack.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/future/internal/child.hpp"

namespace rouse {

template <Future First, Future... Others>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Race {
 public:
  using Output = output_t<First>;

  explicit Race(First first, Others... others)
      : futures_(std::in_place, std::in_place, std::move(first), std::move(others)...) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(futures_.has_value(), "race(...) was polled again after it was ready");
    move_check_.set_polled();
    internal::Outcome<Output> outcome;
    const bool is_over = (*futures_).give_to(
        [&](auto&&... future) { return (internal::poll_into(outcome, future, cx) || ...); });
    if (!is_over) return pending;
    futures_.reset();
    return internal::take_ready(outcome);
  }

  /// Whether one of the futures borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    return futures_ &&
           (*futures_).any_of([](const auto& future) { return internal::future_borrows(future); });
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Race, "race", any_of, &Race::futures_)

 private:
  internal::Maybe<internal::Pack<First, Others...>> futures_;
  internal::MovableUntilPolled move_check_;
};

namespace internal {

/// Also false if one of them is not a future.
template <class First, class... Others>
inline constexpr bool have_same_output =
    requires { requires(std::same_as<output_t<First>, output_t<Others>> && ...); };

}  // namespace internal

template <class First, class... Others>
auto race(First&& first, Others&&... others) {
  constexpr bool are_futures =
      Future<std::remove_cvref_t<First>> && (Future<std::remove_cvref_t<Others>> && ...);
  static_assert(are_futures,
                "race needs futures: did you pass a function instead of calling it? write "
                "race(f(), g())");
  constexpr bool can_keep = internal::Keepable<First> && (internal::Keepable<Others> && ...);
  static_assert(!are_futures || can_keep,
                "race keeps its futures by value and one of these can't be copied: write "
                "race(std::move(f), std::move(g))");
  constexpr bool same =
      internal::have_same_output<std::remove_cvref_t<First>, std::remove_cvref_t<Others>...>;
  static_assert(!are_futures || same,
                "race needs futures of one output type: use select, whose output says which one "
                "was first");
  if constexpr (are_futures && can_keep && same) {
    return Race<std::remove_cvref_t<First>, std::remove_cvref_t<Others>...>(
        std::forward<First>(first), std::forward<Others>(others)...);
  }
}

}  // namespace rouse
