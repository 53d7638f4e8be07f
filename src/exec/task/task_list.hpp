// TaskList: tasks first in, first out, linked through themselves. For one thread at a time; its
// size may be read by any.
#pragma once

#include <cstddef>

#include "rouse/exec/internal/task_header.hpp"

#include "exec/task/counter.hpp"

namespace rouse::internal {

class TaskList {
 public:
  TaskList() = default;
  TaskList(const TaskList&) = delete;
  TaskList& operator=(const TaskList&) = delete;

  std::size_t size() const noexcept { return size_.get(); }

  void push(TaskHeader& task) noexcept {
    task.queue_next.write() = nullptr;
    *last_ = &task;
    last_ = &task.queue_next.write();
    size_.add();
  }
  /// Null if there is none.
  TaskHeader* pop() noexcept {
    TaskHeader* task = first_;
    if (task == nullptr) return nullptr;
    first_ = task->queue_next.read();
    if (first_ == nullptr) last_ = &first_;
    size_.subtract();
    return task;
  }

  /// Calls `fn(task)` for each, the oldest first.
  template <class Fn>
  void for_each(Fn fn) const {
    for (const TaskHeader* task = first_; task != nullptr; task = task->queue_next.read())
      fn(*task);
  }

 private:
  TaskHeader* first_ = nullptr;
  TaskHeader** last_ = &first_;
  Counter size_;
};

}  // namespace rouse::internal
