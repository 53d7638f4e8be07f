// SharedScheduler: what schedulers with many threads have in common: how a task is polled, woken,
// joined, aborted and freed (SharedTaskState). What is left to the kind: where a task that is to be
// polled is put (`enqueue`), and who keeps account of the unfinished ones (`forget`).
//
// Lifetime: a scheduler lives as long as anything refers to it: its executor, Spawners, and every
// task that is not freed, since a waker or a JoinHandle may outlive the executor.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>

#include "rouse/exec/scheduler.hpp"
#include "rouse/exec/task_header.hpp"
#include "rouse/exec/unhandled.hpp"

#include "exec/current.hpp"

namespace rouse {

class SharedScheduler : public Scheduler {
 public:
  // Scheduler: any thread.
  void watch(TaskHeader& task, const Waker& waker) final;
  void abort(TaskHeader& task) final;
  void detach(TaskHeader& task) final;
  void joined(TaskHeader& task) final;
  void add_ref() noexcept final;
  void release() noexcept final;

  static const RawWakerVTable waker_vtable;

 protected:
  explicit SharedScheduler(UnhandledHook on_unhandled) noexcept
      : on_unhandled_(std::move(on_unhandled)) {}

  enum class Ran : std::uint8_t {
    done,   ///< for now, or for ever
    again,  ///< it was woken meanwhile or woke itself: it is to be put on a queue again, at the end
    away,   ///< done, but this thread has lost its worker
  };
  /// Polls or cancels a task that was taken from a queue.
  Ran run(TaskHeader& task, ForkDeque* forks) noexcept;
  /// Ends a task that nobody is polling and nobody will.
  void cancel_now(TaskHeader& task) noexcept;
  /// The same, with an error as its outcome.
  void fail_now(TaskHeader& task, std::exception_ptr error) noexcept;

  enum class Turn : std::uint8_t {
    next,  ///< if that can be: what wakes it is in the cache
    last,  ///< after those that wait already
  };
  /// Any thread. The task became active: see to it that it is polled. An executor that is closed
  /// does nothing.
  virtual void enqueue(TaskHeader& task, Turn turn) noexcept = 0;
  /// The task is complete: it leaves the table of unfinished tasks.
  virtual void forget(TaskHeader& task) noexcept = 0;
  /// The task was polled, and the thread lost its worker meanwhile: the rest of `run`. `is_ready`:
  /// the outcome is in its place.
  virtual void end_poll_away(TaskHeader& task, bool is_ready) noexcept;
  void complete(TaskHeader& task, std::int64_t new_owners) noexcept;
  /// Any thread. The memory of a task that was submitted is gone: gives its reference up.
  virtual void freed() noexcept { release(); }

  void report(TaskHeader& task, std::exception_ptr error) const noexcept;

  // ORDER: as RefCounted. One for the executor, each Spawner, each task.
  atomic<std::int64_t> refs_{1};

 private:
  static void wake_joiner(Waker waker) noexcept;
  static void wake_task(TaskHeader& task, bool and_drop, Turn turn) noexcept;
  void drop_owner(TaskHeader& task) noexcept;
  void discard_outcome(TaskHeader& task) noexcept;
  static void free(TaskHeader& task) noexcept;

  static RawWaker clone_waker(const void* data);
  static void wake(const void* data);
  static void wake_by_ref(const void* data);
  static void drop_waker(const void* data);

  const UnhandledHook on_unhandled_;
};

}  // namespace rouse
