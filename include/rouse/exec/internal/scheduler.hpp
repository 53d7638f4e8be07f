// Scheduler: what a task and its JoinHandle need of whoever runs the task. LocalExecutor has one;
// a Spawner is a counted pointer to one.
#pragma once

#include <exception>

#include "rouse/base/attributes.hpp"
#include "rouse/core/waker.hpp"

namespace rouse {

class BlockingPool;
class Drivers;
class LocalCore;
class TaskHeader;

class ROUSE_API Scheduler {
 public:
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  virtual ~Scheduler();

  // All of these may be called from any thread.

  /// Takes a new task. Its two owners are this scheduler and the JoinHandle. A scheduler that is
  /// closed cancels the task at once.
  virtual void submit(TaskHeader& task) = 0;
  /// Wakes `waker` when the task is complete, at once if it is.
  virtual void watch(TaskHeader& task, const Waker& waker) = 0;
  /// Ends the task at its next suspension point.
  virtual void abort(TaskHeader& task) = 0;
  /// The JoinHandle gives the task up: nobody will take its outcome any more.
  virtual void detach(TaskHeader& task) = 0;
  /// The JoinHandle gives up a complete task, whose outcome it took.
  virtual void joined(TaskHeader& task) = 0;

  /// Where `spawn_blocking` puts work; null if there is no such place.
  virtual BlockingPool* blocking_pool() noexcept { return nullptr; }

  /// Where threads that run tasks beside this scheduler get their timers; null if it has none.
  virtual Drivers* drivers() noexcept { return nullptr; }

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

}  // namespace rouse
