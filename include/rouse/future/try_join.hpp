// try_join(f...): runs all futures concurrently; stops at the first failure and drops the others at
// once.
//
// A failure is an exception, which is rethrown, or an error in a Result output. If any child
// outputs a Result, the output is Result<tuple<...>> with the unwrapped values; otherwise it is the
// plain tuple. Unit stands for a void output, a pointer for a reference. Each poll polls every
// child that is not done, in order. No allocation.
// Cancel safety: dropping it drops all children, and the outputs of those that are done. The same
// happens when another child fails.
#pragma once

#include <exception>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/internal/pack.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/future/internal/child.hpp"

namespace rouse {

namespace internal {

/// T for Result<T>, else the type itself.
template <class T>
struct Unwrapped {
  using Type = T;
};
template <class T>
struct Unwrapped<Result<T>> {
  using Type = T;
};

}  // namespace internal

template <Future... Fs>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] TryJoin {
  using Children = internal::Pack<internal::Child<Fs>...>;
  using Values = std::tuple<stored_t<typename internal::Unwrapped<output_t<Fs>>::Type>...>;
  static constexpr bool has_results = (internal::is_result<output_t<Fs>> || ...);

 public:
  using Output = std::conditional_t<has_results, Result<Values>, Values>;

  explicit TryJoin(Fs... futures)
      : children_(std::in_place, std::in_place, std::move(futures)...) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(children_.has_value(), "try_join(...) was polled again after it was ready");
    move_check_.set_polled();
    bool all_done = true;
    std::error_code error;
    (*children_).give_to([&](auto&&... child) {
      // No child is checked after one that failed: they are destroyed.
      static_cast<void>(
          ((all_done = child.poll(cx) && all_done, !drop_all_if_failed(child, error)) && ...));
    });
    if constexpr (has_results) {
      if (error) return Poll<Output>::ready(error);
    }
    if (!all_done) return pending;
    auto outputs = (*children_).give_to([](auto&&... child) {
      return Poll<Output>::ready(Values(value_of(child)...));
    });
    children_.reset();
    return outputs;
  }

  /// Whether a child borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    return children_ && (*children_).any_of([](const auto& child) { return child.borrows(); });
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(TryJoin, "try_join", all_of, &TryJoin::children_)

 private:
  template <class F>
  bool drop_all_if_failed(internal::Child<F>& child, std::error_code& error) {
    if (!child.is_done()) return false;
    if (child.has_failed()) {
      const std::exception_ptr thrown = child.error();
      children_.reset();
      std::rethrow_exception(thrown);
    }
    if constexpr (internal::is_result<output_t<F>>) {
      if (!child.output().has_value()) {
        error = child.output().error();
        children_.reset();
        return true;
      }
    }
    return false;
  }

  template <class F>
  static auto value_of(internal::Child<F>& child) {
    if constexpr (std::is_same_v<output_t<F>, Result<void>>) {
      return Unit();
    } else if constexpr (internal::is_result<output_t<F>>) {
      return *std::move(child.output());
    } else {
      return std::move(child.output());
    }
  }

  internal::Maybe<Children> children_;
  internal::MovableUntilPolled move_check_;
};

template <class... Fs>
auto try_join(Fs&&... futures) {
  constexpr bool are_futures = (Future<std::remove_cvref_t<Fs>> && ...);
  static_assert(are_futures,
                "try_join needs futures: did you pass a function instead of calling it? write "
                "try_join(f(), g())");
  constexpr bool can_keep = (internal::Keepable<Fs> && ...);
  static_assert(!are_futures || can_keep,
                "try_join keeps its futures by value and one of these can't be copied: write "
                "try_join(std::move(f), std::move(g))");
  if constexpr (are_futures && can_keep) {
    return TryJoin<std::remove_cvref_t<Fs>...>(std::forward<Fs>(futures)...);
  }
}

}  // namespace rouse
