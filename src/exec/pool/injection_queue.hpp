// InjectionQueue: tasks that come from outside the workers, in order: a list under a lock.
#pragma once

#include <cstddef>

#include "rouse/base/thread.hpp"

#include "exec/task/task_list.hpp"

namespace rouse::internal {

class InjectionQueue {
 public:
  /// Any thread; a moment later it may be wrong.
  std::size_t size() const noexcept { return tasks_.size(); }
  bool empty() const noexcept { return size() == 0; }

  /// False once closed: the task is not accepted.
  bool push(TaskHeader& task) noexcept {
    const Lock lock(mutex_);
    if (closed_) return false;
    tasks_.push(task);
    return true;
  }

  /// Takes up to `max` tasks, oldest first; gives how many.
  std::size_t take(TaskHeader** out, std::size_t max) noexcept {
    if (empty()) return 0;
    const Lock lock(mutex_);
    std::size_t count = 0;
    while (count < max && (out[count] = tasks_.pop()) != nullptr) ++count;
    return count;
  }

  /// Drops its content, and accepts nothing any more.
  void close() noexcept {
    const Lock lock(mutex_);
    closed_ = true;
    while (tasks_.pop() != nullptr) {
    }
  }

 private:
  Mutex mutex_;
  TaskList tasks_;
  bool closed_ = false;
};

}  // namespace rouse::internal
