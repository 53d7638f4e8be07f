// AbortHandle: aborts a task without being able to join it. Any number of them next to the
// JoinHandle, which may be awaited, kept in a JoinSet or dropped meanwhile.
//
//   auto task = spawn(download, url);
//   AbortHandle stop = task.abort_handle();        // for another task, or a signal handler's
//   auto page = co_await task;                     // throws JoinError once stop.abort() was called
#pragma once

#include "rouse/core/waker.hpp"
#include "rouse/exec/internal/task_header.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/task_id.hpp"

namespace rouse {

/// Copies refer to the same task. It keeps the memory of the task, not the task running.
/// Threads: any.
class AbortHandle {
 public:
  /// Of a task that somebody has a reference to.
  explicit AbortHandle(internal::TaskHeader& task)
      : task_(&task), keeps_(task.scheduler.waker_of(task)) {}
  AbortHandle(const AbortHandle&) = default;
  AbortHandle& operator=(const AbortHandle&) = default;
  ~AbortHandle() = default;

  /// Destroys the task's future at its next suspension point: see JoinHandle::abort. Does nothing
  /// if the task is done.
  void abort() const { task_->scheduler.abort(*task_); }
  /// Whether the task is done.
  [[nodiscard]] bool is_finished() const noexcept { return task_->state.is_complete(); }
  /// Of the task, also once it was joined.
  [[nodiscard]] TaskId id() const noexcept { return task_->id(); }

 private:
  internal::TaskHeader* task_;
  Waker keeps_;  // a reference to the task
};

template <class T>
AbortHandle JoinHandle<T>::abort_handle() const {
  ROUSE_ASSERT(task_, "abort_handle() of a JoinHandle that was joined, detached or moved from");
  return AbortHandle(*task_);
}

}  // namespace rouse
