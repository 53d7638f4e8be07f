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
  std::uint64_t polls = 0;         ///< of tasks
  std::uint64_t steals = 0;        ///< successful steals
  std::uint64_t stolen_tasks = 0;  ///< tasks that these steals took
  std::uint64_t parks = 0;         ///< how often it went to sleep
  std::uint64_t idle_wakes = 0;  ///< of these, how often there was nothing to poll before the next
  std::uint64_t timers_fired = 0;     ///< by it, also for another worker that was in a long poll
  std::uint64_t budgets_used_up = 0;  ///< polls that had to end early: see core/context.hpp
  std::chrono::nanoseconds busy{0};   ///< not parked
  /// What a poll takes of late, with all that the worker does between polls. Zero until it slept.
  std::chrono::nanoseconds mean_poll{0};
  bool is_parked = false;             ///< it sleeps
  std::size_t local_queue_depth = 0;  ///< tasks in its own queue
};

/// Read while the pool runs: each figure is correct at some moment, not all at the same.
class PoolMetrics {
 public:
  PoolMetrics() noexcept = default;
  std::vector<WorkerMetrics> workers;     ///< one for each
  std::size_t injection_queue_depth = 0;  ///< tasks that came from outside and wait for a worker
  std::uint64_t injected_tasks = 0;       ///< spawns and wakes that came from outside, so far
  std::uint64_t spawned_tasks = 0;        ///< so far
  std::uint64_t alive_tasks = 0;          ///< not done
};

/// What a runtime waits for at its sockets, pipes and signals.
class IoMetrics {
 public:
  IoMetrics() noexcept = default;
  std::size_t sources = 0;         ///< descriptors that it watches
  std::uint64_t ready_events = 0;  ///< how often the system said that one is ready, so far
};

}  // namespace rouse
