// select(f...): runs the futures until the first of them is ready. The output is a std::variant
// whose index says which one it was; Unit stands for a void output, a pointer for a reference.
//
// Each poll polls the futures in the order they are listed and stops at the first that is ready:
// when several are, the first listed wins. That order is part of the contract; put what must not be
// starved (a cancellation, a deadline) first.
// All futures are destroyed before the value is handed out. If the first to finish threw, select
// throws that. No allocation.
// Cancel safety: dropping it drops all futures. A branch that loses is dropped midway: select only
// what is cancel safe, or what may be lost.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "rouse/core/borrow.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/movable_until_polled.hpp"
#include "rouse/future/child.hpp"

namespace rouse {

template <Future... Fs>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Select {
 public:
  using Output = std::variant<stored_t<output_t<Fs>>...>;

  explicit Select(Fs... futures) : futures_(std::in_place, std::move(futures)...) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(futures_.has_value(), "select(...) was polled again after it was ready");
    move_check_.set_polled();
    std::optional<Output> first;
    poll_in_order(first, cx, std::index_sequence_for<Fs...>());
    if (!first) return pending;
    return Poll<Output>::ready(*std::move(first));
  }

  /// Whether one of the futures borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    return futures_ &&
           std::apply([](const auto&... future) { return (future_borrows(future) || ...); },
                      *futures_);
  }

 private:
  template <std::size_t... Index>
  void poll_in_order(std::optional<Output>& first, Context& cx, std::index_sequence<Index...>) {
    static_cast<void>((poll_one<Index>(first, cx) || ...));
  }

  /// True if this one is ready: then all futures are gone, and `first` has its output.
  template <std::size_t Index>
  bool poll_one(std::optional<Output>& first, Context& cx) {
    auto& future = std::get<Index>(*futures_);
    Outcome<output_t<std::remove_reference_t<decltype(future)>>> outcome;
    if (!poll_into(outcome, future, cx)) return false;
    futures_.reset();
    if (outcome.is_error()) std::rethrow_exception(outcome.error());
    first.emplace(std::in_place_index<Index>, std::move(outcome.stored()));
    return true;
  }

  std::optional<std::tuple<Fs...>> futures_;
  MovableUntilPolled move_check_;
};

template <class... Fs>
auto select(Fs&&... futures) {
  static_assert(sizeof...(Fs) > 0, "select() of nothing never ends: use pending_forever()");
  constexpr bool are_futures = (Future<std::remove_cvref_t<Fs>> && ...);
  static_assert(are_futures,
                "select needs futures: did you pass a function instead of calling it? write "
                "select(f(), g())");
  constexpr bool can_keep = (Keepable<Fs> && ...);
  static_assert(!are_futures || can_keep,
                "select keeps its futures by value and one of these can't be copied: write "
                "select(std::move(f), std::move(g))");
  if constexpr (sizeof...(Fs) > 0 && are_futures && can_keep) {
    return Select<std::remove_cvref_t<Fs>...>(std::forward<Fs>(futures)...);
  }
}

}  // namespace rouse
