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
#include <utility>

#include "rouse/base/cell.hpp"
#include "rouse/core/waker.hpp"

namespace rouse {

class ForkDeque;

/// What is to be done when a task's poll is over: see Context::at_poll_end.
struct PollEnd {
  explicit PollEnd(void (*at_end)(PollEnd&) noexcept) noexcept : run(at_end) {}
  void (*run)(PollEnd&) noexcept;
  Cell<PollEnd*> next{nullptr};
};

class Context {
 public:
  /// What an executor allows a task in one poll.
  static constexpr std::uint32_t task_budget = 128;

  /// For polling by hand: the budget has no end.
  explicit constexpr Context(const Waker& waker) noexcept : Context(waker, unlimited) {}
  /// For an executor: the poll of a task.
  constexpr Context(const Waker& waker, std::uint32_t budget) noexcept
      : waker_(&waker), root_(this), left_(budget) {}
  /// The same for one that calls `run_poll_ends`. `parallel` offers its children in `forks`, if the
  /// thread has one.
  constexpr Context(const Waker& waker, std::uint32_t budget, ForkDeque* forks) noexcept
      : waker_(&waker), root_(this), forks_(forks), left_(budget), runs_poll_ends_(true) {}
  /// For a combinator that gives a child a waker of its own: takes from its parent's budget.
  constexpr Context(const Waker& waker, Context& parent) noexcept
      : waker_(&waker), root_(parent.root_), left_(0) {}
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
    if (root_->left_ == 0) [[unlikely]]
      return wake_for_later();
    --root_->left_;
    return true;
  }
  /// For a combinator that polls many children: whether they could take a step. False: as above.
  [[nodiscard]] bool has_budget() const { return root_->left_ != 0 || wake_for_later(); }
  /// Sets what is left of the budget and gives what was: see future/unconstrained.hpp.
  [[nodiscard]] std::uint32_t exchange_budget(std::uint32_t left) const noexcept {
    return std::exchange(root_->left_, left);
  }
  static constexpr std::uint32_t unlimited = UINT32_MAX;

  /// Has `end.run` called, once, when this poll of the task is over: to do for many steps of it at
  /// once what need not be done before the task waits. False: do it now.
  [[nodiscard]] bool at_poll_end(PollEnd& end) const noexcept {
    if (!root_->runs_poll_ends_) return false;
    end.next.write() = std::exchange(root_->poll_ends_, &end);
    return true;
  }
  void run_poll_ends() noexcept {
    while (PollEnd* end = poll_ends_) {
      poll_ends_ = end->next.read();
      end->run(*end);
    }
  }
  /// The same for all contexts of one poll of a task.
  [[nodiscard]] const Context* poll_of_task() const noexcept { return root_; }

  /// Null where nobody could take a child over.
  [[nodiscard]] ForkDeque* forks() const noexcept { return root_->forks_; }
  /// The thread gave its fork deque away in the midst of a poll.
  void forget_forks() noexcept { root_->forks_ = nullptr; }

 private:
  [[gnu::noinline, gnu::cold]] bool wake_for_later() const {
    waker_->wake_by_ref();
    return false;
  }

  const Waker* waker_;
  Context* root_;  // whose `forks_` and `left_` count: this one, or the task's
  ForkDeque* forks_ = nullptr;
  PollEnd* poll_ends_ = nullptr;
  std::uint32_t left_;
  bool runs_poll_ends_ = false;
};

/// Stores the context's waker in `slot` unless the one there would wake the same task.
inline void keep_waker(Waker& slot, const Context& cx) {
  if (!slot.will_wake(cx.waker())) slot = cx.waker();
}

}  // namespace rouse
