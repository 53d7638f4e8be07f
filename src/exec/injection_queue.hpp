// InjectionQueue: tasks that come from outside the workers, in order. A lock, an intrusive list.
#pragma once

#include <cstddef>

#include "rouse/base/thread.hpp"
#include "rouse/exec/task_header.hpp"

namespace rouse {

class InjectionQueue {
 public:
  /// Any thread; a moment later it may be wrong.
  std::size_t size() const noexcept { return size_.load(memory_order_relaxed); }
  bool empty() const noexcept { return size() == 0; }

  /// False once closed: the task is not taken.
  bool push(TaskHeader& task) noexcept {
    const Lock lock(mutex_);
    if (closed_) return false;
    task.queue_next = nullptr;
    *last_ = &task;
    last_ = &task.queue_next;
    size_.store(size() + 1, memory_order_relaxed);
    return true;
  }

  /// Takes up to `max` tasks, oldest first; gives how many.
  std::size_t take(TaskHeader** out, std::size_t max) noexcept {
    if (empty()) return 0;
    const Lock lock(mutex_);
    std::size_t count = 0;
    while (count < max && first_ != nullptr) {
      out[count++] = first_;
      first_ = first_->queue_next;
    }
    if (first_ == nullptr) last_ = &first_;
    size_.store(size() - count, memory_order_relaxed);
    return count;
  }

  /// Lets go of what is in it, and takes nothing any more.
  void close() noexcept {
    const Lock lock(mutex_);
    closed_ = true;
    first_ = nullptr;
    last_ = &first_;
    size_.store(0, memory_order_relaxed);
  }

 private:
  Mutex mutex_;
  TaskHeader* first_ = nullptr;
  TaskHeader** last_ = &first_;
  bool closed_ = false;
  atomic<std::size_t> size_{0};  // written under the lock
};

}  // namespace rouse
