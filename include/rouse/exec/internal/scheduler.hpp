// Scheduler: what a task and its JoinHandle need from whoever runs the task. LocalExecutor has one;
// a Spawner is a counted pointer to one.
#pragma once

#include <exception>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/waker.hpp"

namespace rouse {
class BlockingPool;
}

namespace rouse::internal {

class TimerDrivers;
class LocalCore;
class TaskHeader;

class ROUSE_API Scheduler {
 public:
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  virtual ~Scheduler();

  // All of these may be called from any thread.

  /// Accepts a new task. Its two references belong to this scheduler and to the JoinHandle. A
  /// closed scheduler cancels the task at once.
  virtual void submit(TaskHeader& task) = 0;
  /// Wakes `waker` when the task is complete, at once if it already is.
  virtual void watch(TaskHeader& task, const Waker& waker) = 0;
  /// Ends the task at its next suspension point.
  virtual void abort(TaskHeader& task) = 0;
  /// The JoinHandle drops the task: nobody will take its outcome.
  virtual void detach(TaskHeader& task) = 0;
  /// The JoinHandle drops a complete task, whose outcome it took.
  virtual void joined(TaskHeader& task) = 0;

  /// One more reference to the task, by somebody who has one.
  virtual Waker waker_of(TaskHeader& task) = 0;

  /// Where `spawn_blocking` puts work; null if there is no such place.
  virtual BlockingPool* blocking_pool() noexcept { return nullptr; }

  /// Where threads that run tasks next to this scheduler get their timers; null if it has none.
  virtual TimerDrivers* drivers() noexcept { return nullptr; }

  /// Itself, if its tasks run only while some thread is in its `block_on`; else null.
  virtual LocalCore* current_thread_runtime() noexcept { return nullptr; }

  virtual void add_ref() noexcept = 0;
  virtual void release() noexcept = 0;

  /// Where `spawn` puts a task on this thread: the scheduler whose task is running, or a runtime
  /// that was entered. Null if there is none.
  static Scheduler* current() noexcept;

 protected:
  Scheduler() = default;
};

}  // namespace rouse::internal
