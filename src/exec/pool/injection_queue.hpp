// InjectionQueue: tasks that come from outside the workers, in order: a list under a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "rouse/base/thread.hpp"

#include "exec/task/counter.hpp"
#include "exec/task/task_list.hpp"
#include "exec/task/watching.hpp"
#include "sys/ticks.hpp"

namespace rouse::internal {

class InjectionQueue {
 public:
  /// Any thread; a moment later it may be wrong.
  std::size_t size() const noexcept { return tasks_.size(); }
  bool empty() const noexcept { return size() == 0; }
  /// All that ever were.
  std::uint64_t pushed() const noexcept { return pushed_.get(); }

  /// False once closed: the task is not accepted, and whoever sweeps may have freed it.
  bool push(TaskHeader& task) noexcept {
    return push(task, [] {});
  }
  /// Calls `before` if it is accepted, and before others can have it.
  template <class Fn>
  bool push(TaskHeader& task, Fn before) noexcept {
    const Lock lock(mutex_);
    if (closed_) return false;
    before();
    if (is_watching() && pushed_.get() % sampled_wakes == 0 && sampled_.task == nullptr) {
      sampled_ = {.task = &task, .woken_at = sys::ticks()};
    }
    tasks_.push(task);
    pushed_.add();
    return true;
  }

  /// A task and when it was pushed: one in 32, in watched mode.
  struct Sampled {
    TaskHeader* task = nullptr;
    std::uint64_t woken_at = 0;  // in ticks
  };

  /// Takes up to `max` tasks, oldest first; gives how many, and in `sampled` whether that one is
  /// among them.
  std::size_t take(TaskHeader** out, std::size_t max, Sampled& sampled) noexcept {
    if (empty()) return 0;
    const Lock lock(mutex_);
    std::size_t count = 0;
    while (count < max && (out[count] = tasks_.pop()) != nullptr) {
      if (out[count++] == sampled_.task) [[unlikely]]
        sampled = std::exchange(sampled_, {});
    }
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
  static constexpr std::uint64_t sampled_wakes = 32;

  Mutex mutex_;
  TaskList tasks_;
  Counter pushed_;
  Sampled sampled_;  // that waits here
  bool closed_ = false;
};

}  // namespace rouse::internal
