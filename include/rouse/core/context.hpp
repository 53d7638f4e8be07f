// Context: what a future's poll receives: the waker of whoever polls, which it borrows, and the
// task's budget.
//
// The budget keeps a task whose futures are always ready from running for ever. Each poll of a task
// may take so many steps; a leaf that may be ready again and again (a channel, a socket, a join)
// takes one before it gives its value, and returns pending when none is left:
//
//   if (!cx.take_budget()) return pending;   // the task was woken: it goes on after the others
#pragma once

#include <cstdint>

#include "rouse/core/waker.hpp"

namespace rouse {

class Context {
 public:
  /// What an executor allows a task in one poll.
  static constexpr std::uint32_t task_budget = 128;

  /// For polling by hand: the budget has no end.
  explicit constexpr Context(const Waker& waker) noexcept : Context(waker, unlimited) {}
  /// For an executor: the poll of a task.
  constexpr Context(const Waker& waker, std::uint32_t budget) noexcept
      : waker_(&waker), budget_(this), left_(budget) {}
  /// For a combinator that gives a child a waker of its own: takes from its parent's budget.
  constexpr Context(const Waker& waker, Context& parent) noexcept
      : waker_(&waker), budget_(parent.budget_), left_(0) {}
  /// A temporary waker would be gone before the first poll: keep it in a variable.
  explicit Context(const Waker&&) = delete;
  Context(const Waker&&, std::uint32_t) = delete;
  Context(const Waker&&, Context&) = delete;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// The waker to keep (by copy) when returning pending. It may differ from poll to poll.
  [[nodiscard]] constexpr const Waker& waker() const noexcept { return *waker_; }

  /// Takes one step. False: none is left; the task was woken, so return pending.
  [[nodiscard]] bool take_budget() const {
    if (budget_->left_ == 0) [[unlikely]]
      return wake_for_later();
    if (budget_->left_ != unlimited) --budget_->left_;
    return true;
  }

 private:
  [[gnu::noinline, gnu::cold]] bool wake_for_later() const {
    waker_->wake_by_ref();
    return false;
  }

  static constexpr std::uint32_t unlimited = UINT32_MAX;

  const Waker* waker_;
  Context* budget_;  // whose `left_` counts: this one, or the task's
  std::uint32_t left_;
};

/// Stores the context's waker in `slot` unless the one there would wake the same task.
inline void keep_waker(Waker& slot, const Context& cx) {
  if (!slot.will_wake(cx.waker())) slot = cx.waker();
}

}  // namespace rouse
