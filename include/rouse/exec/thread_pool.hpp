// ThreadPool: runs tasks on several threads. Each worker has a queue of its own; one that has
// nothing to do steals from the others, then sleeps. A Runtime (runtime/runtime.hpp) is a
// ThreadPool with all that usually goes with it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <utility>
#include <vector>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/exec/park.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/unhandled.hpp"

namespace rouse {

class BlockingPool;
class PoolCore;

class ThreadPoolConfig {
 public:
  ThreadPoolConfig() noexcept = default;
  std::size_t workers = 2;
  /// So many polls of a worker may pass before it looks at the tasks that came from outside.
  unsigned global_queue_interval = 61;
  /// So many polls of a worker may pass before it looks for I/O and timers.
  unsigned event_interval = 61;
  UnhandledHook on_unhandled;
  /// Waits for I/O and timers; outlives the pool. One sleeping worker at a time waits there.
  Park* driver = nullptr;
  /// For spawn_blocking and block_in_place; outlives the pool.
  BlockingPool* blocking_pool = nullptr;
  /// Runs a function on a thread of its own.
  std::function<void(std::function<void()>)> start_thread;
};

class WorkerMetrics {
 public:
  WorkerMetrics() noexcept = default;
  std::uint64_t polls = 0;
  std::uint64_t steals = 0;        ///< successful ones
  std::uint64_t stolen_tasks = 0;  ///< that these brought
  std::uint64_t parks = 0;
  std::chrono::nanoseconds busy{0};  ///< not parked
  std::size_t local_queue_depth = 0;
};

/// Read while the pool runs: each figure is right at some moment, not all at the same.
class PoolMetrics {
 public:
  PoolMetrics() noexcept = default;
  std::vector<WorkerMetrics> workers;
  std::size_t injection_queue_depth = 0;
  std::uint64_t spawned_tasks = 0;
  std::uint64_t alive_tasks = 0;  ///< not done
};

class ROUSE_API ThreadPool {
 public:
  explicit ThreadPool(ThreadPoolConfig config = {});
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  /// Waits for the polls that are under way, then destroys every task; their joins report
  /// cancellation. Not inside one of its own tasks.
  ~ThreadPool();

  /// See exec/spawner.hpp. Any thread.
  template <class F>
  auto spawn(F&& work, std::source_location where = std::source_location::current()) const {
    return spawn_on(scheduler(), where, std::forward<F>(work));
  }
  template <class Fn, class Arg, class... Args>
    requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
  auto spawn(Fn&& fn, Arg&& arg, Args&&... args) const {
    return spawn_on(scheduler(), {}, std::forward<Fn>(fn), std::forward<Arg>(arg),
                    std::forward<Args>(args)...);
  }
  [[nodiscard]] Spawner spawner() const;

  /// Begins to end; does not wait. The tasks are destroyed on the pool's threads.
  void close() noexcept;
  /// Any thread, also inside tasks.
  [[nodiscard]] PoolMetrics metrics() const;

 private:
  Scheduler& scheduler() const noexcept;

  RefPtr<PoolCore> core_;
  std::vector<std::function<void()>> joins_;
};

}  // namespace rouse
