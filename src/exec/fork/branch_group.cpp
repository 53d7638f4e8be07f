#include "exec/fork/branch_group.hpp"

#include <chrono>
#include <mutex>
#include <new>

#include "rouse/base/internal/spin_lock.hpp"

#include "exec/local/local_core.hpp"
#include "exec/park/deadline.hpp"
#include "exec/pool/pool_core.hpp"

namespace rouse::internal {

bool BranchGroup::enroll() noexcept {
  std::vector<JoinHandle<void>> finished;  // let go after the lock
  std::exception_ptr why;
  {
    const Lock lock(mutex_);
    ++enrolled_;
    if (cancelled_) {
      changed_.notify_all();
      return false;
    }
    try {
      make_room(finished);
      return true;
    } catch (const std::bad_alloc&) {
      why = std::current_exception();
    }
  }
  lose(std::move(why));
  return false;
}

void BranchGroup::keep(JoinHandle<void> task) noexcept {
  {
    const Lock lock(mutex_);
    --promised_;
    if (!cancelled_) return tasks_.push_back(std::move(task));  // it has room
  }
  task.abort();
}

/// For a task that will be kept. Finished ones go before the list grows: a group may live long and
/// have many children in turn.
void BranchGroup::make_room(std::vector<JoinHandle<void>>& finished) {
  ++promised_;
  if (tasks_.size() + promised_ <= tasks_.capacity()) return;
  std::vector<JoinHandle<void>> running;
  running.reserve(2 * tasks_.size() + promised_ + 4);
  finished.reserve(tasks_.size());
  for (auto& task : tasks_) (task.is_finished() ? finished : running).push_back(std::move(task));
  tasks_ = std::move(running);
}

Scheduler* BranchGroup::scheduler() noexcept {
  return this_thread.local != nullptr ? this_thread.local : this_thread.scheduler;
}

void BranchGroup::lose(std::exception_ptr why) noexcept {
  Waker parent;
  {
    const Lock lock(mutex_);
    if (cancelled_ || is_lost()) return;
    why_lost_ = std::move(why);
    is_lost_.store(true, memory_order_relaxed);
    parent = std::move(waker_);
  }
  if (parent) std::move(parent).wake();
}

bool BranchGroup::is_each_kept_or_lost(std::uint32_t children) noexcept {
  const Lock lock(mutex_);
  return is_lost() || (enrolled_ >= children && promised_ == 0);
}

std::exception_ptr BranchGroup::why_lost() noexcept {
  const Lock lock(mutex_);
  return why_lost_;
}

std::exception_ptr BranchGroup::executor_ended() noexcept {
  try {
    throw JoinError(0);
  } catch (...) {  // there may be no memory for its text
    return std::current_exception();
  }
}

bool BranchGroup::enter() {
  const Lock lock(mutex_);
  if (cancelled_) return false;
  ++polled_now_;
  return true;
}

/// Not for ever: whoever has it may wait for memory, and malloc for a thread that is stuck.
Lock BranchGroup::try_to_lock() noexcept {
  Lock lock(mutex_, std::try_to_lock);
  const Deadline deadline(std::chrono::milliseconds(1));
  for (unsigned attempt = 0; !lock.owns_lock() && !lock.try_lock(); ++attempt) {
    if (deadline.left() == std::chrono::nanoseconds(0)) break;
    back_off(attempt);
  }
  return lock;
}

void BranchGroup::with_children(FunctionRef<void()> fn) {
  const Lock lock = try_to_lock();
  if (lock.owns_lock() && !cancelled_) fn();
}

bool BranchGroup::show_awaited(FunctionRef<void(TaskId)> fn) {
  const Lock lock = try_to_lock();
  if (!lock.owns_lock() || cancelled_ || is_lost() || !waker_) return false;
  // Thieves that took a child may be about to enroll it, or to make its task.
  if ((awaited_ != all && enrolled_ < awaited_) || promised_ != 0) return false;
  std::uint32_t left = enrolled_ - ended_;
  for (const auto& task : tasks_) {
    if (task.is_finished()) continue;
    if (left == 0) return false;  // its child has ended, and it is about to
    --left;
    fn(task.id());
  }
  return left == 0;
}

ChildPoll::ChildPoll(const BranchGroup& of) noexcept : group(of), outer(this_thread.child_polls) {
  this_thread.child_polls = this;
}
ChildPoll::~ChildPoll() { this_thread.child_polls = outer; }

bool BranchGroup::is_polled_here() const noexcept {
  const ChildPoll* poll = this_thread.child_polls;
  while (poll != nullptr && &poll->group != this) poll = poll->outer;
  return poll != nullptr;
}

bool BranchGroup::poll(Frame& child, Context& cx) const {
  const ChildPoll here(*this);
  const TaskLocalsScope in_scope(locals_.get());
  return child.poll_chain(cx);
}

void BranchGroup::leave(bool ended) {
  Waker parent;
  {
    const Lock lock(mutex_);
    --polled_now_;
    if (cancelled_) return changed_.notify_all();
    if (ended) ++ended_;
    if (ended && have_ended(awaited_)) parent = std::move(waker_);
  }
  if (parent) std::move(parent).wake();
}

bool BranchGroup::poll_ended(std::uint32_t children, const Context& cx) {
  Waker waker = cx.waker();  // after the lock it is the old one, and dropped
  const Lock lock(mutex_);
  if (have_ended(children)) return true;
  awaited_ = children;
  std::swap(waker_, waker);
  return false;
}

bool BranchGroup::poll_all_ended(const Context& cx) { return poll_ended(all, cx); }

void BranchGroup::wake_parent() noexcept {
  Waker parent;
  {
    const Lock lock(mutex_);
    parent = std::move(waker_);
  }
  if (parent) std::move(parent).wake();
}

/// Mostly this waits for the rest of a short poll. But a child may block, in block_in_place, until
/// a task has run that is in this worker's queue, or that this thread is to sweep: so another
/// thread takes that over after a while. And the child may wait for what this poll does only at its
/// end.
void BranchGroup::wait_until_quiet(Lock& lock, std::uint32_t children) noexcept {
  ROUSE_ASSERT(
      !is_polled_here(),
      "a child of parallel or scope drops the parallel or scope that it is part of, and "
      "would wait for its own end: let it return instead, or tell another task to drop it");
  if (this_thread.poll != nullptr) {
    lock.unlock();
    this_thread.poll->run_poll_ends();
    lock.lock();
  }
  const Deadline soon(std::chrono::milliseconds(1));
  while (!is_quiet(children)) {
    if (!soon.wait(changed_, lock)) break;
  }
  if (is_quiet(children)) return;
  lock.unlock();
  Worker* const kept = PoolCore::begin_blocking();
  lock.lock();
  changed_.wait(lock, [&] { return is_quiet(children); });
  lock.unlock();
  PoolCore::end_blocking(kept);
  lock.lock();
}

void BranchGroup::cancel_and_wait(std::uint32_t children) noexcept {
  std::vector<JoinHandle<void>> tasks;
  Waker parent;
  RefPtr<const TaskLocalNode> locals;  // now: the tasks that keep this may end much later
  {
    Lock lock(mutex_);
    cancelled_ = true;
    if (!is_quiet(children)) wait_until_quiet(lock, children);
    tasks.swap(tasks_);
    parent = std::move(waker_);
    locals = std::move(locals_);
  }
  for (auto& task : tasks) task.abort();
}

}  // namespace rouse::internal
