// What an executor has done and holds. The counters behind it are always on: each is written by one
// thread only, with plain stores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rouse/base/internal/durations.hpp"

namespace rouse {

/// What one worker has done so far.
class WorkerMetrics {
 public:
  WorkerMetrics() noexcept = default;
  std::uint64_t polls = 0;            ///< of tasks
  std::uint64_t steals = 0;           ///< successful steals
  std::uint64_t stolen_tasks = 0;     ///< tasks that these steals took
  std::uint64_t parks = 0;            ///< how often it went to sleep
  std::chrono::nanoseconds busy{0};   ///< not parked
  bool is_parked = false;             ///< it sleeps
  std::size_t local_queue_depth = 0;  ///< tasks in its own queue
};

/// Read while the pool runs: each figure is correct at some moment, not all at the same.
class PoolMetrics {
 public:
  PoolMetrics() noexcept = default;
  std::vector<WorkerMetrics> workers;     ///< one for each
  std::size_t injection_queue_depth = 0;  ///< tasks that came from outside and wait for a worker
  std::uint64_t spawned_tasks = 0;        ///< so far
  std::uint64_t alive_tasks = 0;          ///< not done
};

}  // namespace rouse
