// join(f...): runs all futures concurrently and is ready with the tuple of their outputs when the
// last one is. Unit stands for a void output, a pointer for a reference.
//
// Each poll polls every child that is not done, in order; a child is destroyed when it is done. If
// children throw, join still waits for the others and then throws the first exception. No
// allocation. For many children of one type use join_all, which polls only woken ones.
// Cancel safety: dropping it drops all children, and the outputs of those that are done.
#pragma once

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/internal/pack.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/future/internal/child.hpp"

namespace rouse {

template <Future... Fs>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Join {
  using Children = internal::Pack<internal::Child<Fs>...>;

 public:
  using Output = std::tuple<stored_t<output_t<Fs>>...>;
  static constexpr bool polled_out_of_line = true;

  explicit Join(Fs... futures) : children_(std::in_place, std::in_place, std::move(futures)...) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(children_.has_value(), "join(...) was polled again after it was ready");
    move_check_.set_polled();
    bool all_done = true;
    (*children_).give_to([&](auto&&... child) {
      ((all_done = poll_child(child, cx) && all_done), ...);
    });
    if (!all_done) return pending;
    if (first_error_) {
      children_.reset();
      std::rethrow_exception(std::exchange(first_error_, nullptr));
    }
    auto outputs = (*children_).give_to([](auto&&... child) {
      return Poll<Output>::ready(Output(std::move(child.output())...));
    });
    children_.reset();
    return outputs;
  }

  /// Whether a child borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    return children_ && (*children_).any_of([](const auto& child) { return child.borrows(); });
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Join, "join", all_of, &Join::children_)

 private:
  template <class F>
  bool poll_child(internal::Child<F>& child, Context& cx) {
    if (!child.poll(cx)) return false;
    if (child.has_failed() && !first_error_) first_error_ = child.error();
    return true;
  }

  internal::Maybe<Children> children_;
  std::exception_ptr first_error_;
  internal::MovableUntilPolled move_check_;
};

template <class... Fs>
auto join(Fs&&... futures) {
  constexpr bool are_futures = (Future<std::remove_cvref_t<Fs>> && ...);
  static_assert(are_futures,
                "join needs futures: did you pass a function instead of calling it? write "
                "join(f(), g())");
  constexpr bool can_keep = (internal::Keepable<Fs> && ...);
  static_assert(!are_futures || can_keep,
                "join keeps its futures by value and one of these can't be copied: write "
                "join(std::move(f), std::move(g))");
  if constexpr (are_futures && can_keep) {
    return Join<std::remove_cvref_t<Fs>...>(std::forward<Fs>(futures)...);
  }
}

}  // namespace rouse
