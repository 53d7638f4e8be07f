// What threads other than the owner want of a LocalCore's tasks.
#include "exec/local/local_core.hpp"
#include "exec/task/free_task.hpp"
#include "exec/task/observe.hpp"
#include "exec/task/task_transitions.hpp"

namespace rouse::internal {

/// By another thread, or while something is recorded.
void LocalCore::submit_slowly(TaskHeader& task) {
  note_spawn(task);
  if (is_owner()) {
    adopt(task);
  } else {
    post(task, adopt_it, 0);
  }
}

/// The handle was polled on another thread before, and its waker may still be in the inbox.
void LocalCore::drop_watchers(TaskHeader& task) {
  decltype(watchers_)::node_type forgotten;  // dropped after the lock
  const Lock lock(mutex_);
  forgotten = watchers_.extract(&task);
}

void LocalCore::post(TaskHeader& task, std::uint8_t messages, std::int32_t refs, Waker watcher) {
  Waker awaiter;  // woken after the lock, when this may be gone
  const bool is_open = [&] {
    const Lock lock(mutex_);
    if (!closed_) {
      if (watcher) std::swap(watchers_[&task], watcher);  // first: it may throw
      task.inbox().touch(messages);
      task.local.inbox_refs += refs;
      // One reference more needs no attention; one less may be the last.
      if (messages != 0 || refs < 0) enqueue(task);
      // Under the lock: the executor may be gone as soon as it is released.
      if (messages != 0) {
        park_->unpark();
        awaiter = std::move(awaiter_);
      }
    }
    return !closed_;
  }();
  if (awaiter) std::move(awaiter).wake();
  if (is_open) return;  // here `watcher`, maybe the one before, is dropped
  if (watcher) return std::move(watcher).wake();  // every task is complete
  post_to_closed(task, messages, refs);
}

void LocalCore::post_wake(TaskHeader& task, std::int32_t refs) {
  note_wake(task);
  post(task, wake_it, refs);
}

void LocalCore::enqueue(TaskHeader& task) noexcept {
  if (task.inbox().is_queued()) return;
  task.inbox().mark_queued();
  task.queue_next.write() = nullptr;
  *inbox_last_ = &task;
  inbox_last_ = &task.queue_next.write();
  inbox_pending_.store(true, memory_order_relaxed);
}

void LocalCore::post_to_closed(TaskHeader& task, std::uint8_t messages, std::int32_t refs) {
  if (messages & adopt_it) {
    add_ref();  // as `close` did for the tasks there were
    task.cancel();
    task.local_state().finish();
    refs = -1;
  }
  if (messages & detach_it) {
    // The caller was the handle, so this thread alone may touch the outcome.
    if (auto error = task.discard()) report(task, std::move(error));
  }
  if (refs == 0) return;
  {
    const Lock lock(mutex_);
    task.local.inbox_refs += refs;
    if (task.local_state().refs() + task.local.inbox_refs != 0) return;
  }
  free_task(task);
  release();
}

}  // namespace rouse::internal
