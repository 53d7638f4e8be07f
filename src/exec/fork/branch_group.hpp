// BranchGroup: where the children of one parent that run as their own tasks meet the parent.
// Created only when a child leaves the parent's chain, so it may be slow: one lock guards
// everything.
//
// The parent owns the children's futures; their tasks only refer to them, and poll them between
// `enter` and `leave`. After `cancel_and_wait` no task touches a future any more: the parent may
// destroy them, even if the tasks themselves end later. No waker is woken or dropped, and no task
// released, under the lock.
//
// The task of a child:                           The future of a child:
//
//        enroll            keep                            enter           leave(true)
//   taken -----> promised -----> kept             waiting -------> polled -----------> ended
//                   |             |                  ^                |
//                   | no memory:  | Detached dies    '----------------'
//                   | lose        | early: lose           leave(false)
//                   v             v
//                      lost (the group)
//
// The group:
//
//   open ---lose---> lost                     `poll_ended` is true, the parent throws `why_lost`
//     |                |
//     '----------------+--cancel_and_wait--> cancelled, then quiet
//
// Cancelled: `enroll` and `enter` give false, `keep` aborts the task, `lose` does nothing. Quiet:
// all children that were taken are enrolled, and none is polled.
//
// | word        | says                                | changed by                             |
// | ----------- | ----------------------------------- | -------------------------------------- |
// | cancelled_  | no child is polled from now on      | cancel_and_wait                        |
// | is_lost_    | with why_lost_: a child can't end   | lose                                   |
// | enrolled_   | children taken, lost ones too       | enroll                                 |
// | promised_   | tasks that `tasks_` has room for    | make_room; keep. Stays if one is lost  |
// | polled_now_ | children that are being polled      | enter; leave                           |
// | ended_      | children that ended                 | leave(true)                            |
// | awaited_    | with waker_: the parent waits until | poll_ended; the waker is taken by      |
// |             | so many ended                       | leave, lose, wake_parent, and the end  |
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/function_ref.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/internal/frame.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/task_local.hpp"

namespace rouse::internal {

class BranchGroup : public RefCounted<BranchGroup> {
 public:
  /// `locals` are in effect where the children were begun.
  explicit BranchGroup(const TaskLocalNode* locals) noexcept
      : locals_(RefPtr<const TaskLocalNode>::share(locals)) {}

  // --- Whoever makes a task of a child. ---

  /// Adds a child that will be polled elsewhere. False: the group is cancelled, or there is no
  /// memory for the child and the group is lost; do not run it.
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
  /// The child will never complete, because there is no memory for its task or the task was
  /// destroyed before. Wakes the parent, which finds `why_lost`.
  void lose(std::exception_ptr why) noexcept;
  /// Why what such a task runs was destroyed, if it was not told: the JoinError of that.
  static std::exception_ptr executor_ended() noexcept;

  /// Between the two: the poll itself, with the task locals that the children were begun in.
  bool poll(Frame& child, Context& cx) const;

  // --- An examiner, while it holds the task. ---

  /// Calls `fn` unless the child may be destroyed; it is not while this lasts.
  void with_children(FunctionRef<void()> fn);
  /// The tasks that the parent waits for: `fn(id)` for each. False: it may go on without them, or
  /// nobody knows.
  bool show_awaited(FunctionRef<void(TaskId)> fn);

  // --- The parent. ---

  /// Whether this many children have ended, or one was lost. If not, wakes when that is so.
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
  /// about to enroll it) and none is being polled. Aborts with a message if a child calls this: it
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
  Lock try_to_lock() noexcept;

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
  explicit ChildPoll(const BranchGroup& of) noexcept;
  ChildPoll(const ChildPoll&) = delete;
  ChildPoll& operator=(const ChildPoll&) = delete;
  ~ChildPoll();

  const BranchGroup& group;
  const ChildPoll* const outer;
};

/// What the task of a child runs.
class Detached {
 public:
  using Output = void;
  Detached(RefPtr<BranchGroup> group, Frame& child) noexcept
      : group_(std::move(group)), child_(&child) {}
  Detached(Detached&&) noexcept = default;
  ~Detached() {
    if (group_ && child_) group_->lose(BranchGroup::executor_ended());
  }
  /// The scheduler had no memory for the task, which goes now.
  void task_failed(std::exception_ptr why) noexcept { group_->lose(std::move(why)); }

  ROUSE_SHAPE(Detached, nullptr, branch, &Detached::child_, &Detached::group_)
  Poll<void> poll(Context& cx) {
    if (!group_->enter()) return Poll<void>::ready();
    const bool ended = group_->poll(*child_, cx);
    if (ended) child_ = nullptr;
    group_->leave(ended);
    if (!ended) return pending;
    return Poll<void>::ready();
  }

 private:
  RefPtr<BranchGroup> group_;
  Frame* child_;  // null once it ended
};

}  // namespace rouse::internal
