// Deadlocks: tasks that wait for each other, and for nothing else.
//
// A task *may go on* if it is not idle, or if anything that it waits for may end: whatever the
// world may end (a time, a descriptor, a message, ...), what is opaque, a lock of which nobody
// knows who has it, a task that may go on. What is left can't go on, unless it is aborted, or has
// passed an object that has a guard to another task. A guard that is moved says that nobody knows
// who has the lock (sync/lock_guard.hpp).
//
// What a dump sees of one task and another is of two moments, so what is left is a suspicion. It is
// looked at again, all of it at one moment (Examinable::examine_at_once): then it is a fact. Tasks
// of several executors can't be looked at in one moment, so what crosses them is not found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rouse/exec/task_id.hpp"

#include "exec/task/examinable.hpp"
#include "sight/arena.hpp"

namespace rouse::sight {

struct Step;

/// Who is waited for: the id of a task that is joined, the tag of one that has a lock.
struct Awaited {
  std::uint64_t id;
  bool is_tag;

  [[nodiscard]] bool is(TaskId task) const noexcept {
    return is_tag ? rouse::internal::tag_of(task) == id : task == id;
  }
};

/// A task of a deadlock.
struct DeadlockedTask {
  TaskId id;
  const char* name;
  std::span<const Step> steps;
  Awaited awaited;  // the first of those that it waits for
};
struct Deadlock {
  /// Each waits for the next one, as far as that can be said of them in a row.
  std::span<DeadlockedTask> tasks;
  Deadlock* next;
};

/// The tasks of one executor that wait for other tasks only.
class Suspects {
 public:
  static constexpr std::size_t most_tasks = 1 << 16;
  static constexpr std::size_t most_awaited = 1 << 18;
  /// Of one task.
  static constexpr std::size_t most_of_one = 4096;
  /// Who has so many deadlocks need not see more.
  static constexpr std::size_t most_found = 64;
  /// Of one deadlock.
  static constexpr std::size_t most_in_one = rouse::internal::Examinable::most_at_once;

  explicit Suspects(Arena& arena) noexcept;

  void clear() noexcept { tasks_ = awaited_ = 0; }
  void add(TaskId id, std::span<const Awaited> awaited) noexcept;

  /// Calls `check(ids)`, in order of their tags, for sets of tasks that wait for each other, and
  /// what these wait for.
  template <class Check>
  void find(Check check) {
    if (tasks_ == 0) return;
    leave_those_that_go_on();
    std::size_t found = 0;
    for (std::uint32_t i = 0; i < tasks_ && found < most_found; ++i) {
      const std::size_t count = take_cycle(i);
      if (count == 0) continue;
      ++found;
      check(std::span<const TaskId>(ids_, count));
    }
  }

 private:
  struct Task {
    TaskId id;
    std::uint32_t first;  // of what it awaits
    std::uint32_t count;
    bool goes_on;
    bool is_taken;
    std::uint32_t first_waiter;  // where its waiters are
    std::uint32_t found_from;    // from which task on, and one; 0: from none
  };
  static constexpr std::uint32_t nobody = UINT32_MAX;

  std::uint32_t find_task(const Awaited& awaited) const noexcept;
  void leave_those_that_go_on() noexcept;
  std::size_t take_cycle(std::uint32_t from) noexcept;

  Task* const all_;
  Awaited* const edges_;
  std::uint32_t* const targets_;  // of each edge: which task; nobody: none of these
  std::uint32_t* const waiters_;  // tasks, grouped by whom they wait for
  std::uint32_t* const queue_;
  std::uint32_t* const found_;  // most_in_one
  TaskId* const ids_;           // of these
  std::uint32_t tasks_ = 0;
  std::uint32_t awaited_ = 0;
};

}  // namespace rouse::sight
