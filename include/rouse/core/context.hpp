// Context: passed to a future's poll. It borrows the waker of whoever polls, and carries the task's
// budget.
//
// The budget keeps a task whose futures are always ready from running forever. Each poll of a task
// has a number of steps. A leaf that may be ready again and again (a channel, a socket, a join)
// takes one step before it gives its value, and returns pending when none is left:
//
//   if (!cx.take_budget()) return pending;   // the task was woken: it goes on after the others
#pragma once

#include <cstdint>
#include <utility>

#include "rouse/base/cell.hpp"
#include "rouse/core/waker.hpp"

namespace rouse::internal {
class ForkDeque;
}  // namespace rouse::internal

namespace rouse {

namespace internal {

/// Work deferred to the end of a task's poll: see Context::at_poll_end.
struct PollEnd {
  explicit constexpr PollEnd(void (*at_end)(PollEnd&) noexcept) noexcept : run(at_end) {}
  void (*run)(PollEnd&) noexcept;
  Cell<PollEnd*> next{nullptr};
};

/// Is the last of a poll's ends if the poll has used up its budget: an executor that counts these
/// sets `run`, before there are threads. It is never linked to a next, so all threads share it.
inline PollEnd budget_used_up([](PollEnd&) noexcept {});

}  // namespace internal

class Context {
 public:
  /// The steps that an executor gives a task in one poll.
  static constexpr std::uint32_t task_budget = 128;

  /// For polling by hand: the budget is unlimited.
  explicit constexpr Context(const Waker& waker) noexcept : Context(waker, unlimited) {}
  /// For an executor: the poll of a task.
  constexpr Context(const Waker& waker, std::uint32_t budget) noexcept
      : waker_(&waker), root_(this), left_(budget) {}
  /// The same for an executor that calls `run_poll_ends`. `parallel` offers its children in
  /// `forks`, if the thread has a fork deque.
  constexpr Context(const Waker& waker, std::uint32_t budget, internal::ForkDeque* forks,
                    std::uint32_t task_tag = UINT32_MAX) noexcept
      : waker_(&waker), root_(this), forks_(forks), left_(budget), task_tag_(task_tag) {}
  /// For a combinator that gives a child its own waker: the child uses its parent's budget.
  constexpr Context(const Waker& waker, Context& parent) noexcept
      : waker_(&waker), root_(parent.root_), left_(0) {}
  /// A temporary waker would be gone before the first poll: keep it in a variable.
  explicit Context(const Waker&&) = delete;
  Context(const Waker&&, std::uint32_t) = delete;
  Context(const Waker&&, Context&) = delete;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// The waker to copy and store before returning pending. It may differ from poll to poll.
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
  /// Sets the remaining budget and returns the old value: see future/unconstrained.hpp.
  [[nodiscard]] std::uint32_t exchange_budget(std::uint32_t left) const noexcept {
    return std::exchange(root_->left_, left);
  }
  static constexpr std::uint32_t unlimited = UINT32_MAX;

  /// Defers `end.run` to the end of this poll of the task, where it is called once. Use it to batch
  /// work that need not be done before the task waits. False: do it now.
  [[nodiscard]] bool at_poll_end(internal::PollEnd& end) const noexcept {
    if (root_->task_tag_ == 0) return false;
    end.next.write() = std::exchange(root_->poll_ends_, &end);
    return true;
  }
  /// Runs the work deferred to the end of the poll. For an executor.
  void run_poll_ends() noexcept {
    while (internal::PollEnd* end = poll_ends_) {
      poll_ends_ = end->next.read();
      end->run(*end);
    }
  }
  /// Of the task that is polled: the lower half of its id. 0 if it is none.
  [[nodiscard]] std::uint32_t task_tag() const noexcept { return root_->task_tag_; }
  /// Sets it and returns the old one. 0 for a future that several tasks poll in turn: none of them
  /// has what it locks.
  [[nodiscard]] std::uint32_t exchange_task_tag(std::uint32_t tag) const noexcept {
    return std::exchange(root_->task_tag_, tag);
  }
  /// Equal for all contexts of one poll of a task.
  [[nodiscard]] const Context* poll_of_task() const noexcept { return root_; }

  /// Null if nobody could steal a child.
  [[nodiscard]] internal::ForkDeque* forks() const noexcept { return root_->forks_; }
  /// Where `forks` looks, the same during the whole poll.
  [[nodiscard]] internal::ForkDeque* const* forks_place() const noexcept { return &root_->forks_; }
  /// The thread has handed over its fork deque in the middle of a poll.
  void clear_forks() noexcept { root_->forks_ = nullptr; }

 private:
  [[gnu::noinline, gnu::cold]] bool wake_for_later() const {
    if constexpr (!internal::model_checker) {
      if (root_->task_tag_ != 0) note_used_up(root_->poll_ends_);
    }
    waker_->wake_by_ref();
    return false;
  }
  /// Once a poll.
  static void note_used_up(internal::PollEnd*& first) noexcept {
    if (first == nullptr) {
      first = &internal::budget_used_up;
      return;
    }
    internal::PollEnd* end = first;
    while (end != &internal::budget_used_up && end->next.read() != nullptr) end = end->next.read();
    if (end != &internal::budget_used_up) end->next.write() = &internal::budget_used_up;
  }

  const Waker* waker_;
  Context* root_;  // whose `forks_` and `left_` count: this one, or the task's
  internal::ForkDeque* forks_ = nullptr;
  internal::PollEnd* poll_ends_ = nullptr;
  std::uint32_t left_;
  std::uint32_t task_tag_ = 0;  // 0: nobody runs poll ends
};

namespace internal {

/// While it lives no task has what is locked: Context::exchange_task_tag.
class PollOfNoTask {
 public:
  explicit PollOfNoTask(const Context& cx) noexcept : cx_(cx), tag_(cx.exchange_task_tag(0)) {}
  PollOfNoTask(const PollOfNoTask&) = delete;
  PollOfNoTask& operator=(const PollOfNoTask&) = delete;
  ~PollOfNoTask() { static_cast<void>(cx_.exchange_task_tag(tag_)); }

 private:
  const Context& cx_;
  const std::uint32_t tag_;
};

}  // namespace internal

/// Stores the context's waker in `slot` unless the one there would wake the same task.
inline void keep_waker(Waker& slot, const Context& cx) {
  if (!slot.will_wake(cx.waker())) slot = cx.waker();
}

}  // namespace rouse
