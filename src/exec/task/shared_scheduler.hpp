// SharedScheduler: common to schedulers with many threads: how a task is polled, woken, joined,
// aborted and freed (SharedTaskState). Left to the derived class: where a task that is to be polled
// is queued (`enqueue`), and who tracks the unfinished ones (`untrack`).
//
// Lifetime: a scheduler lives as long as anything refers to it: its executor, Spawners, and every
// task that is not freed, since a waker or a JoinHandle may outlive the executor.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>

#include "rouse/exec/internal/scheduler.hpp"
#include "rouse/exec/internal/task_header.hpp"
#include "rouse/exec/unhandled.hpp"

#include "exec/task/current.hpp"
#include "exec/task/handed_over.hpp"

namespace rouse::internal {

class PollWatch;

class SharedScheduler : public Scheduler {
 public:
  // Scheduler: any thread.
  void watch(TaskHeader& task, const Waker& waker) final;
  void abort(TaskHeader& task) final;
  void detach(TaskHeader& task) final;
  void joined(TaskHeader& task) final;
  Waker waker_of(TaskHeader& task) final;
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
  /// The same, and notes how long it took; `watch` has begun.
  Ran run_observed(TaskHeader& task, ForkDeque* forks, PollWatch& watch) noexcept;
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
  virtual void untrack(TaskHeader& task) noexcept = 0;
  /// The task was polled, and the thread lost its worker meanwhile: the rest of `run`. `is_ready`:
  /// the outcome is in its place.
  virtual void end_poll_away(TaskHeader& task, bool is_ready) noexcept;
  /// Notes that poll of `run_observed`.
  virtual void end_watch_away(PollWatch&, const TaskHeader*, bool) noexcept {}
  void complete(TaskHeader& task, std::int64_t new_refs) noexcept;
  /// Any thread. The executor is being shut down.
  virtual bool is_ending() const noexcept { return false; }
  /// Any thread. The memory of a task that was submitted is gone: gives its reference up.
  virtual void freed() noexcept { release(); }

  void report(TaskHeader& task, std::exception_ptr error) const noexcept;

  /// For an examiner: what HandedOver gave.
  void drop_handed_over(TaskHeader* first) noexcept;

  HandedOver handed_over_;
  // ORDER: as RefCounted. One for the executor, each Spawner, each task.
  atomic<std::int64_t> refs_{1};

 private:
  template <bool is_observed>
  [[gnu::always_inline]] Ran run_maybe_observed(TaskHeader& task, ForkDeque* forks,
                                                PollWatch* watch) noexcept;
  void finish(TaskHeader& task, std::int64_t new_refs) noexcept;
  [[gnu::noinline, gnu::cold]] void complete_examined(TaskHeader& task,
                                                      std::int64_t new_refs) noexcept;
  static void wake_joiner(Waker waker) noexcept;
  static void wake_task(TaskHeader& task, bool and_drop, Turn turn) noexcept;
  void drop_ref(TaskHeader& task) noexcept;
  void discard_outcome(TaskHeader& task) noexcept;
  static void free(TaskHeader& task) noexcept;

  static RawWaker clone_waker(const void* data);
  static void wake(const void* data);
  static void wake_by_ref(const void* data);
  static void drop_waker(const void* data);

  const UnhandledHook on_unhandled_;
};

}  // namespace rouse::internal
