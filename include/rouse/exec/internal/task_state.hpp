// The state word of a task. What its bits mean, and every transition it can make:
// src/exec/task/task_transitions.hpp.
#pragma once

#include <cstdint>

#include "rouse/base/atomic.hpp"

namespace rouse::internal {

/// The word, and what both ways have in common.
class TaskState {
 public:
  TaskState() = default;
  TaskState(const TaskState&) = delete;
  TaskState& operator=(const TaskState&) = delete;

  /// Any thread. ORDER: acquire; sees the outcome that `finish` published.
  bool is_complete() const noexcept { return (word.load(memory_order_acquire) & complete) != 0; }

  using Word = std::uint64_t;
  enum Bits : Word {
    active = 1,
    notified = 2,
    complete = 4,
    cancelled = 8,
    join_interest = 16,
    join_waker = 32,
    away = 64,
    held = 128,
    deferred = 256,
    one_ref = 512,
  };

  /// For the transitions below alone.
  // Born on its way to the run queue, with two references: its scheduler and its JoinHandle.
  atomic<Word> word{active | join_interest | 2 * one_ref};
};

}  // namespace rouse::internal
