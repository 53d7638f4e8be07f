// Examination: how the tasks of a ThreadPool are looked at while its workers go on.
//
// The examiner holds a few tasks at a time: whoever takes a held task from a queue does not poll it
// but leaves it to the examiner, who puts it on a queue when it lets go. So a task that nobody
// polls when it is held stands still. One that somebody polls by then is left alone.
//
//   poller (PoolCore::run_worker)              examiner
//     worker.current = task                      old = task.hold()
//     light fence                                heavy fence
//     word = task's; held? then defer it         read `current` of each worker, then the word
//     poll
//
// A task that is not complete
//  - was idle when it was held: who wakes it writes the word later, so who takes it from the queue
//    then sees that it is held. What its last poll did is seen by the word (end_poll).
//  - was active: a poll that began without seeing that it is held read the word before the heavy
//    fence, so the examiner sees `current` as that poll set it, or later:
//      - it is this task: it may be polled.
//      - it is not: the worker's thread has ended the poll, and what that did is seen by the store
//        to `current`; or it has handed its worker over, and another thread set `current`. Before
//        that it marked the task as away, which is seen in the word, as long as that poll lasts
//        (part_with, end_poll_away).
//    In the first case and in the last it is left alone.
//
// Its memory: who completes a task hands it over to the examiner (HandedOver).
//
// At shutdown the sweep ends tasks without a queue. It begins only between two steps of the
// examiner, who then takes no more (`end_examinations`). What is let go after the injection queue
// was closed is in no queue, but in its table.
//
// tests/model/examination_test.cpp has the models.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <utility>

#include "rouse/base/atomic.hpp"

#include "exec/task/examinable.hpp"
#include "exec/task/task_table.hpp"
#include "exec/task/task_transitions.hpp"

namespace rouse::internal {

/// A few tasks that are held. `is_polled(task)` says whether a worker has it as `current`;
/// `fence()` is a heavy fence: false, if there is none; `requeue(task)` puts it on a queue.
template <class Pool, std::size_t room = model_checker ? 2 : 64>
class HeldTasks {
 public:
  static constexpr std::size_t most = room;

  explicit HeldTasks(Pool& pool) noexcept : pool_(pool) {}
  HeldTasks(const HeldTasks&) = delete;
  HeldTasks& operator=(const HeldTasks&) = delete;

  bool is_full() const noexcept { return count_ == most; }
  /// The task that was in the slot, if it is still there.
  void add(TaskTable::Slot& slot) noexcept {
    // ORDER: acquire; sees the task.
    if (TaskHeader* const task = slot.load(memory_order_acquire)) {
      entries_[count_++] = Entry{task, &slot, task->shared_state().hold()};
    }
  }
  /// Calls `still(task, word)` for each that nobody polls, `busy(task, word, slot)` for the others,
  /// and lets go of all.
  template <class Still, class Busy>
  void show(Still still, Busy busy) {
    using enum TaskState::Bits;
    const std::span<Entry> entries(entries_.data(), count_);
    bool has_active = false;
    for (const Entry& entry : entries) has_active = has_active || (entry.word & active) != 0;
    const bool is_fenced = has_active && pool_.fence();
    for (Entry& entry : entries) {
      if (entry.word & complete) continue;
      if (entry.word & active) {
        // First `current`, as told above.
        const bool is_polled = !is_fenced || pool_.is_polled(*entry.task);
        entry.word = entry.task->shared_state().look();
        if (entry.word & complete) continue;
        if (is_polled || (entry.word & away) != 0) {
          busy(*entry.task, entry.word, *entry.slot);
          continue;
        }
      }
      still(*entry.task, entry.word);
    }
    let_go();
  }
  /// Calls `still(task, word)` for each, if all are idle; lets go of all.
  template <class Still>
  void show_if_all_are_idle(Still still) {
    using enum TaskState::Bits;
    const std::span<const Entry> entries(entries_.data(), count_);
    bool are_idle = true;
    for (const Entry& entry : entries)
      are_idle = are_idle && (entry.word & (active | complete)) == 0;
    for (const Entry& entry : entries) {
      if (are_idle) still(*entry.task, entry.word);
    }
    let_go();
  }
  std::size_t size() const noexcept { return count_; }
  void let_go() noexcept {
    for (const Entry& entry : std::span(entries_.data(), std::exchange(count_, 0))) {
      if (entry.task->shared_state().let_go()) pool_.requeue(*entry.task);
    }
  }

 private:
  struct Entry {
    TaskHeader* task;
    TaskTable::Slot* slot;
    TaskState::Word word;
  };

  Pool& pool_;
  std::size_t count_ = 0;
  std::array<Entry, most> entries_;
};

}  // namespace rouse::internal
