// unconstrained(f): the future `f`, polled without the task's budget (core/context.hpp): a channel,
// a join or a socket inside never returns pending just to let other tasks run. For short stretches
// that must not be interrupted; a future that is always ready starves the other tasks of its
// thread. After each poll the budget is restored, even if the poll throws: the other awaits of the
// task are limited as before. Completes when `f` does, with its output; throws what `f` throws.
// Cancel safety: dropping it drops `f`.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/future/internal/child.hpp"

namespace rouse {

namespace internal {

/// Removes the limit while it lives.
class WithoutBudget {
 public:
  explicit WithoutBudget(Context& cx) noexcept
      : cx_(cx), before_(cx.exchange_budget(Context::unlimited)) {}
  ~WithoutBudget() { static_cast<void>(cx_.exchange_budget(before_)); }
  WithoutBudget(const WithoutBudget&) = delete;
  WithoutBudget& operator=(const WithoutBudget&) = delete;

 private:
  Context& cx_;
  const std::uint32_t before_;
};

}  // namespace internal

template <Future F>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] Unconstrained {
 public:
  using Output = output_t<F>;

  explicit Unconstrained(F future) : future_(std::move(future)) {}

  Poll<Output> poll(Context& cx) {
    const internal::WithoutBudget unlimited(cx);
    return future_.poll(cx);
  }

  /// Whether the future borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return internal::future_borrows(future_); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Unconstrained, nullptr, one, &Unconstrained::future_)

 private:
  F future_;
};

template <class F>
auto unconstrained(F&& future) {
  using Kept = std::remove_cvref_t<F>;
  static_assert(Future<Kept>,
                "unconstrained needs a future: did you pass a function instead of calling it? "
                "write unconstrained(f())");
  static_assert(!Future<Kept> || internal::Keepable<F>,
                "unconstrained keeps its future by value and this one can't be copied: write "
                "unconstrained(std::move(f))");
  if constexpr (Future<Kept> && internal::Keepable<F>)
    return Unconstrained<Kept>(std::forward<F>(future));
}

}  // namespace rouse
