// HandedOver: keeps a task that completes while somebody examines the tasks of its scheduler until
// that one does not look at it any more.
//
// Who completes a task empties its slot, makes a light fence, and looks whether there is an
// examiner. An examiner says that it is there, makes a heavy fence, and reads the slots. So one of
// these holds:
//  - the look came before the heavy fence: then the slot was emptied before it, too, and the
//    examiner does not find the task.
//  - the look came after: who completes the task gives the examiner a reference to it.
#pragma once

#include <cstdint>

#include "rouse/base/atomic.hpp"
#include "rouse/exec/internal/task_header.hpp"

namespace rouse::internal {

class HandedOver {
 public:
  // --- Whoever completes a task. ---

  /// ORDER: acquire; if there is no examiner any more, what the last one read of the task comes
  /// before its end, also of a task that it did not hold (PoolCore::Examiner::hold).
  bool is_wanted() const noexcept { return top_.load(memory_order_acquire) != nobody(); }
  /// With a reference. False: there is no examiner any more.
  bool give(TaskHeader& task) noexcept {
    // ORDER: acquire; if there is none any more, what it did to the task comes before its end.
    TaskHeader* top = top_.load(memory_order_acquire);
    do {
      if (top == nobody()) return false;
      task.queue_next.write() = top;  // it is complete: in no queue, and never again
      // ORDER: release; publishes the link, and that the slot is empty. If it fails: as above.
    } while (!top_.compare_exchange_weak(top, &task, memory_order_release, memory_order_acquire));
    return true;
  }

  // --- The examiner, one at a time. ---

  /// A heavy fence has to follow.
  void open() noexcept { top_.store(nullptr, memory_order_relaxed); }
  /// What was given until now, a list by `queue_next`. ORDER: acquire; sees the links.
  TaskHeader* take() noexcept { return top_.exchange(nullptr, memory_order_acquire); }
  /// The same for the last time. ORDER: release; see `give`.
  TaskHeader* close() noexcept { return top_.exchange(nobody(), memory_order_acq_rel); }

 private:
  static TaskHeader* nobody() noexcept { return reinterpret_cast<TaskHeader*>(std::uintptr_t{1}); }
  atomic<TaskHeader*> top_{nobody()};
};

}  // namespace rouse::internal
