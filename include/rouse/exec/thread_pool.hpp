// ThreadPool: runs tasks on several threads. Each worker has its own run queue; an idle worker
// steals from the others, then sleeps. A Runtime (runtime/runtime.hpp) is a ThreadPool with
// everything that usually goes with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <utility>

#include "rouse/base/function.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/internal/timer_driver.hpp"
#include "rouse/exec/park.hpp"
#include "rouse/exec/pool_metrics.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/task_id.hpp"

namespace rouse::internal {
class PoolCore;
}  // namespace rouse::internal

namespace rouse {

/// What a hook is told about a task.
class ROUSE_API TaskMeta {
 public:
  /// Of a task that lives while the hook runs.
  explicit TaskMeta(const internal::TaskHeader& task) noexcept;
  TaskId id;                        ///< of the task
  std::string_view name;            ///< see task::Builder; empty if it has none
  std::source_location spawned_at;  ///< line 0: not known, as for spawn(fn, args...)
};

/// Must not throw.
using TaskHook = Function<void(const TaskMeta&)>;

/// The settings of a ThreadPool.
class ThreadPoolOptions {
 public:
  ThreadPoolOptions() noexcept = default;
  std::size_t workers = 2;  ///< threads that poll tasks
  /// How many polls a busy worker makes before it checks the injection queue.
  unsigned global_queue_interval = 61;
  /// How many polls a busy worker makes before it checks I/O and timers.
  unsigned event_interval = 61;
  /// Waits for I/O; one sleeping worker at a time waits there. Must outlive the pool, and all its
  /// Spawners, JoinHandles and wakers.
  Park* io_driver = nullptr;
  /// Each worker gets its timers from there. Null: there are no timers.
  RefPtr<internal::TimerDrivers> timer_drivers;
  Function<void()> on_thread_park;    ///< on a worker, before it goes to sleep
  Function<void()> on_thread_unpark;  ///< on a worker that has slept, before it does anything else
  /// Before the task may run: on the thread that spawns it; of a current_thread runtime maybe on
  /// the one in block_on.
  TaskHook on_task_spawn;
  TaskHook on_task_terminate;  ///< its future is gone, whoever joins it is not woken yet
  /// Of all threads, including those of workers, which do not count as blocking ones.
  BlockingOptions threads;
};

class ROUSE_API ThreadPool : public SpawnMembers<ThreadPool> {
 public:
  /// Throws std::system_error if the threads can't be started.
  explicit ThreadPool(ThreadPoolOptions options = {});
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  /// Waits for polls in progress, then destroys every task; joining them reports cancellation. Not
  /// inside one of its own tasks.
  ~ThreadPool();

  /// See exec/spawner.hpp.
  /// Threads: any.
  using SpawnMembers::spawn;
  [[nodiscard]] Spawner spawner() const;

  /// Shuts the pool down, and waits for that at most this long: polls and blocking calls in
  /// progress then run on, and the tasks are destroyed when they return. True: nothing is left.
  bool shutdown(std::chrono::nanoseconds timeout);
  /// Threads: any, also inside tasks.
  [[nodiscard]] PoolMetrics metrics() const;

  [[nodiscard]] internal::Scheduler& scheduler() const noexcept;

 private:
  RefPtr<internal::PoolCore> core_;
};

}  // namespace rouse
