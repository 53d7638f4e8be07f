// race(f...): runs futures of one output type until the first is ready; the output is its value.
//
// Each poll polls the futures in the order they are listed and stops at the first that is ready:
// when several are, the first listed wins. All futures are destroyed before the value is handed
// out. If the first to finish threw, race throws that. No allocation.
// Cancel safety: dropping it drops all futures; those that lose are dropped midway.
#pragma once

#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/core/borrow.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/movable_until_polled.hpp"
#include "rouse/future/child.hpp"

namespace rouse {

template <Future First, Future... Others>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Race {
 public:
  using Output = output_t<First>;

  explicit Race(First first, Others... others)
      : futures_(std::in_place, std::move(first), std::move(others)...) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(futures_.has_value(), "race(...) was polled again after it was ready");
    move_check_.set_polled();
    Outcome<Output> outcome;
    const bool is_over = std::apply(
        [&](auto&... future) { return (poll_into(outcome, future, cx) || ...); }, *futures_);
    if (!is_over) return pending;
    futures_.reset();
    return take_ready(outcome);
  }

  /// Whether one of the futures borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    return futures_ &&
           std::apply([](const auto&... future) { return (future_borrows(future) || ...); },
                      *futures_);
  }

 private:
  std::optional<std::tuple<First, Others...>> futures_;
  MovableUntilPolled move_check_;
};

/// False if one of them is no future, too.
template <class First, class... Others>
inline constexpr bool have_same_output =
    requires { requires(std::same_as<output_t<First>, output_t<Others>> && ...); };

template <class First, class... Others>
auto race(First&& first, Others&&... others) {
  constexpr bool are_futures =
      Future<std::remove_cvref_t<First>> && (Future<std::remove_cvref_t<Others>> && ...);
  static_assert(are_futures,
                "race needs futures: did you pass a function instead of calling it? write "
                "race(f(), g())");
  constexpr bool can_keep = Keepable<First> && (Keepable<Others> && ...);
  static_assert(!are_futures || can_keep,
                "race keeps its futures by value and one of these can't be copied: write "
                "race(std::move(f), std::move(g))");
  constexpr bool same =
      have_same_output<std::remove_cvref_t<First>, std::remove_cvref_t<Others>...>;
  static_assert(!are_futures || same,
                "race needs futures of one output type: use select, whose output says which one "
                "was first");
  if constexpr (are_futures && can_keep && same) {
    return Race<std::remove_cvref_t<First>, std::remove_cvref_t<Others>...>(
        std::forward<First>(first), std::forward<Others>(others)...);
  }
}

}  // namespace rouse
