// CurrentTask: which task a worker polls, for an examiner on another thread: see examination.hpp.
#pragma once

#include "rouse/base/atomic.hpp"
#include "rouse/exec/internal/task_header.hpp"

namespace rouse::internal {

class CurrentTask {
 public:
  // --- The worker's. ---

  /// Before each poll. ORDER: release; the poll before is over.
  void begin(TaskHeader& task) noexcept {
    task_.store(&task, memory_order_release);
    light_fence();
  }
  /// It has nothing to poll. ORDER: as above.
  void rest() noexcept { task_.store(nullptr, memory_order_release); }
  /// The task that it polls, or has polled last.
  TaskHeader* get() const noexcept { return task_.load(memory_order_relaxed); }

  // --- The examiner's. ---

  /// ORDER: acquire; if it is not, sees what the worker did before.
  bool is(const TaskHeader& task) const noexcept {
    return task_.load(memory_order_acquire) == &task;
  }

 private:
  atomic<TaskHeader*> task_{nullptr};
};

}  // namespace rouse::internal
