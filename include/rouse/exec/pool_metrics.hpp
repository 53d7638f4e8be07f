// What an executor has done and holds. The counters behind it are always on: each is written by one
// thread only, with plain stores.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rouse {

class WorkerMetrics {
 public:
  WorkerMetrics() noexcept = default;
  std::uint64_t polls = 0;
  std::uint64_t steals = 0;        ///< successful ones
  std::uint64_t stolen_tasks = 0;  ///< that these brought
  std::uint64_t parks = 0;
  std::chrono::nanoseconds busy{0};  ///< not parked
  bool is_parked = false;            ///< it sleeps
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

}  // namespace rouse
