// TaskHeader: a task seen without its type. A task is one block: this header, and behind it the
// future, in whose place the outcome is put once it is done (exec/internal/task.hpp).
//
// | field               | who may touch it                                                 |
// | ------------------- | ---------------------------------------------------------------- |
// | state               | see src/exec/task/task_transitions.hpp                           |
// | vtable, scheduler,  |                                                                  |
// | id, spawned_at      | set before the task is submitted, then read only                 |
// | the future          | whoever polls the task, only inside a poll or a cancel           |
// | the outcome         | after complete: the JoinHandle; once that is gone, the scheduler |
// | content             | whoever may touch the future or the outcome                      |
// | queue_next          | whoever put the task on a queue                                  |
// | LocalExecutor:      |                                                                  |
// | join_waker, index   | the owner thread                                                 |
// | inbox_*             | under the inbox lock                                             |
// | shared scheduler:   |                                                                  |
// | join_waker          | see SharedTaskState                                              |
// | slot                | set by submit; cleared by whoever completes the task             |
// | is_mandatory        | set by submit, then read only                                    |
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#include "rouse/base/atomic.hpp"
#include "rouse/base/cell.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/context.hpp"
#include "rouse/exec/internal/scheduler.hpp"
#include "rouse/exec/internal/spawn_place.hpp"
#include "rouse/exec/internal/task_state.hpp"
#include "rouse/exec/task_id.hpp"

namespace rouse::internal {

class Frame;
class InboxMarks;
class LocalTaskState;
class SharedTaskState;

ROUSE_API TaskId next_task_id() noexcept;

/// What is to know about a Task<F>. The less, the less a compiler makes of each spawn.
struct TaskVTable {
  /// Polls the future. True: it ended and the outcome is in its place.
  bool (*poll)(TaskHeader&, Context&) noexcept;
  /// Destroys the future. `why` is the exception that ends it, null if it is cancelled.
  void (*drop_future)(TaskHeader&, const std::exception_ptr* why) noexcept;
  /// Destroys the value that the task gave. Null: that takes no code.
  void (*destroy_value)(void* outcome) noexcept;
  std::size_t outcome_offset;  ///< of the future, too
  std::size_t block_class;     ///< of its memory: BlockClass::of_any
  /// Frees the task's memory; the outcome must have been dropped or taken.
  void (*free)(TaskHeader&) noexcept;
  /// Where its std::string is that task::Builder named it with, in the task. 0: it has no name.
  std::size_t name_offset;
  /// The coroutine that its future is or has, if there is one. Null: it never is a coroutine.
  const Frame* (*frame)(const TaskHeader&) noexcept;
  /// Of the future.
  const sight::Shape* shape;
};

class ROUSE_API TaskHeader {
 public:
  TaskHeader(const TaskVTable& type, Scheduler& runs_on, SpawnPlace where) noexcept
      : TaskHeader(type, runs_on, where, next_task_id()) {}
  TaskHeader(const TaskHeader&) = delete;
  TaskHeader& operator=(const TaskHeader&) = delete;

  InboxMarks inbox() noexcept;
  LocalTaskState local_state() noexcept;
  SharedTaskState shared_state() noexcept;
  TaskId id() const noexcept { return TaskId{id_high_} << 32 | id_low_; }
  /// See Context::task_tag.
  std::uint32_t tag() const noexcept { return id_low_; }

  /// Destroys the future; the outcome stays unset, which means cancelled.
  void cancel() noexcept;
  /// Destroys the future, unless the outcome is there already; the error is the outcome.
  void fail(std::exception_ptr error) noexcept;
  /// The same with the exception that is handled now.
  void fail_with_current_exception() noexcept;
  /// Where the OutcomeCell<T> is, once the future is gone. `content` says what is in it.
  void* outcome() noexcept { return reinterpret_cast<char*>(this) + vtable.outcome_offset; }
  /// Where the future is, while `content` says so.
  const void* future() const noexcept {
    return reinterpret_cast<const char*>(this) + vtable.outcome_offset;
  }
  /// Drops the outcome; gives the exception that nobody took, if there was one.
  std::exception_ptr discard() noexcept;
  /// What task::Builder named it; null if nothing.
  const char* name() const noexcept;
  /// The coroutine that it runs; null if that is unknown. For whoever polls it.
  const Frame* frame() const noexcept {
    return vtable.frame && content == Content::future ? vtable.frame(*this) : nullptr;
  }
  /// The `free` of a task without a name.
  static void free_block_of(TaskHeader& task) noexcept;

  /// What there is behind the header. The first two come before the outcome.
  enum class Content : std::uint8_t {
    call,  // of a function that gives the future
    future,
    nothing,  // no value: the task was cancelled, or its exception was taken
    value,
    error,
  };

  TaskState state;
  const TaskVTable& vtable;
  Scheduler& scheduler;
  Cell<TaskHeader*> queue_next{nullptr};  // in the inbox of a LocalExecutor, or a shared queue
  Cell<Waker> join_waker;
  SpawnPlace spawned_at;  // where the failure began, if spawn could not know
  struct Local {
    std::int32_t inbox_refs = 0;  // references made (less those dropped) on other threads
    std::uint32_t index = 0;      // in the scheduler's table of unfinished tasks
  };
  union {
    Local local;
    atomic<TaskHeader*>* slot;  // of a scheduler with many threads: in its table
    bool is_mandatory;          // of a BlockingPool: runs also if that is closed before
  };

 private:
  TaskHeader(const TaskVTable& type, Scheduler& runs_on, SpawnPlace where, TaskId id) noexcept
      : vtable(type),
        scheduler(runs_on),
        spawned_at(where),
        local(),
        id_low_(static_cast<std::uint32_t>(id)),
        id_high_(static_cast<std::uint16_t>(id >> 32)) {}

  void drop_future(const std::exception_ptr* why) noexcept;

  // Ids have 48 bits: enough for a million tasks a second for nine years.
  const std::uint32_t id_low_;
  const std::uint16_t id_high_;

 public:
  atomic<std::uint8_t> inbox_marks{0};
  Content content = Content::future;

 protected:
  ~TaskHeader() = default;
};

}  // namespace rouse::internal
