// ThreadPool: runs tasks on several threads. Each worker has a queue of its own; one that has
// nothing to do steals from the others, then sleeps. A Runtime (runtime/runtime.hpp) is a
// ThreadPool with all that usually goes with it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <utility>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/driver.hpp"
#include "rouse/exec/park.hpp"
#include "rouse/exec/pool_metrics.hpp"
#include "rouse/exec/spawner.hpp"

namespace rouse {

class PoolCore;

class ThreadPoolConfig {
 public:
  ThreadPoolConfig() noexcept = default;
  std::size_t workers = 2;
  /// So many polls of a worker may pass before it looks at the tasks that came from outside.
  unsigned global_queue_interval = 61;
  /// So many polls of a worker may pass before it looks for I/O and timers.
  unsigned event_interval = 61;
  /// Waits for I/O. One sleeping worker at a time waits there. Outlives the pool, and all Spawners,
  /// JoinHandles and wakers of it.
  Park* driver = nullptr;
  /// Each worker gets a driver of its own from there: its timers. None: there are no timers.
  RefPtr<Drivers> drivers;
  /// Of all threads, those of workers too, which do not count as blocking ones.
  BlockingOptions threads;
};

class ROUSE_API ThreadPool : public SpawnMembers<ThreadPool> {
 public:
  /// Throws std::system_error if the threads can't be started.
  explicit ThreadPool(ThreadPoolConfig config = {});
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  /// Waits for the polls that are under way, then destroys every task; their joins report
  /// cancellation. Not inside one of its own tasks.
  ~ThreadPool();

  /// See exec/spawner.hpp. Any thread.
  using SpawnMembers::spawn;
  [[nodiscard]] Spawner spawner() const;

  /// Ends the pool, waiting for that at most so long: what still runs then (a poll, a blocking
  /// call) goes on by itself, and the tasks are destroyed when it returns. True: all is gone.
  bool shutdown(std::chrono::nanoseconds timeout);
  /// Any thread, also inside tasks.
  [[nodiscard]] PoolMetrics metrics() const;

  [[nodiscard]] Scheduler& scheduler() const noexcept;

 private:
  RefPtr<PoolCore> core_;
};

}  // namespace rouse
