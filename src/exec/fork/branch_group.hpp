// ChildGroup: where the children of one parent that run as tasks of their own meet the parent. Made
// only when a child leaves the parent's chain, so it may be slow: one lock guards everything.
//
// The children's futures belong to the parent; their tasks only refer to them, and poll them
// between `enter` and `leave`. After `cancel_and_wait` no task touches a future any more: the
// parent may destroy them, even though the tasks themselves may end later. No waker is woken or
// dropped, and no task let go, under the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "rouse/base/atomic.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/frame.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/task_local.hpp"

namespace rouse {

class ChildGroup : public RefCounted<ChildGroup> {
 public:
  /// `locals` are in effect where the children were begun.
  explicit ChildGroup(const TaskLocalNode* locals) noexcept
      : locals_(RefPtr<const TaskLocalNode>::share(locals)) {}

  // --- Whoever makes a task of a child. ---

  /// One child more, which will be polled elsewhere. False: the group is cancelled, or there is no
  /// memory for the child and the group is lost; let it be.
  bool enroll() noexcept;
  /// The task of a child that was enrolled.
  void keep(JoinHandle<void> task) noexcept;
  /// Where such tasks go: the executor of thread-bound tasks that this thread runs, else the one
  /// that `spawn` uses; null if there is none.
  static Scheduler* scheduler() noexcept;

  // --- The task. ---

  /// Before each poll. False: the group is cancelled, the future must not be touched.
  bool enter();
  /// After it. With `ended` the child counts as ended.
  void leave(bool ended);
  /// The child will never end, because there is no memory for its task or the task was destroyed
  /// before. The parent is woken and finds `why_lost`.
  void lose(std::exception_ptr why) noexcept;
  /// Why what such a task runs was destroyed, if it was not told: the JoinError of that.
  static std::exception_ptr executor_ended() noexcept;

  /// Between the two: the poll itself, with the task locals that the children were begun in.
  bool poll(Frame& child, Context& cx) const;

  // --- The parent. ---

  /// Whether this many children ended, or one was lost. If not, wakes when that is so.
  bool poll_ended(std::uint32_t children, const Context& cx);
  /// The same for all that are enrolled.
  bool poll_all_ended(const Context& cx);
  /// Whether so many children have tasks; true, too, if one is lost.
  bool is_each_kept_or_lost(std::uint32_t children) noexcept;
  bool is_lost() const noexcept { return is_lost_.load(memory_order_relaxed); }
  std::exception_ptr why_lost() noexcept;
  /// Any thread. Wakes the parent, if it waits.
  void wake_parent() noexcept;
  /// From now on no child is polled. Waits until `children` are enrolled (thieves that took one are
  /// about to) and none is being polled. Aborts with a hint if it is a child that calls this, which
  /// would wait for itself. May be called again.
  void cancel_and_wait(std::uint32_t children) noexcept;

 private:
  static constexpr std::uint32_t all = UINT32_MAX;
  bool have_ended(std::uint32_t children) const noexcept {
    return is_lost() || ended_ == (children == all ? enrolled_ : children);
  }
  bool is_quiet(std::uint32_t children) const noexcept {
    return enrolled_ >= children && polled_now_ == 0;
  }
  void wait_until_quiet(Lock& lock, std::uint32_t children) noexcept;
  bool is_polled_here() const noexcept;
  void make_room(std::vector<JoinHandle<void>>& finished);

  RefPtr<const TaskLocalNode> locals_;  // until it is cancelled
  Mutex mutex_;
  CondVar changed_;
  bool cancelled_ = false;
  atomic<bool> is_lost_{false};  // changes under the lock
  std::exception_ptr why_lost_;
  std::uint32_t enrolled_ = 0;
  std::uint32_t polled_now_ = 0;
  std::uint32_t ended_ = 0;
  std::uint32_t awaited_ = 0;  // how many must end for `waker_` to be woken
  Waker waker_;
  std::vector<JoinHandle<void>> tasks_;
  std::size_t promised_ = 0;  // tasks that there is room for, to be kept
};

/// A poll of a child, on this thread, while it lives.
class ChildPoll {
 public:
  explicit ChildPoll(const ChildGroup& of) noexcept;
  ChildPoll(const ChildPoll&) = delete;
  ChildPoll& operator=(const ChildPoll&) = delete;
  ~ChildPoll();

  const ChildGroup& group;
  const ChildPoll* const outer;
};

/// What the task of a child runs.
class Detached {
 public:
  using Output = void;
  Detached(RefPtr<ChildGroup> group, Frame& child) noexcept
      : group_(std::move(group)), child_(&child) {}
  Detached(Detached&&) noexcept = default;
  ~Detached() {
    if (group_ && child_) group_->lose(ChildGroup::executor_ended());
  }
  /// The scheduler had no memory for the task, which goes now.
  void task_failed(std::exception_ptr why) noexcept { group_->lose(std::move(why)); }

  Poll<void> poll(Context& cx) {
    if (!group_->enter()) return Poll<void>::ready();
    const bool ended = group_->poll(*child_, cx);
    if (ended) child_ = nullptr;
    group_->leave(ended);
    if (!ended) return pending;
    return Poll<void>::ready();
  }

 private:
  RefPtr<ChildGroup> group_;
  Frame* child_;  // null once it ended
};

}  // namespace rouse
