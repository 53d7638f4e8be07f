// The counters of one worker: each is written by the worker alone, so it costs a plain store.
#pragma once

#include <cstdint>

#include "rouse/exec/pool_metrics.hpp"

#include "exec/task/counter.hpp"
#include "sys/clock.hpp"

namespace rouse::internal {

/// Of two counters that are read one after the other: never below zero.
inline std::uint64_t difference(std::uint64_t more, std::uint64_t less) noexcept {
  return more > less ? more - less : 0;
}

class WorkerCounters {
 public:
  /// The clock is read only where the worker begins and ends to sleep.
  void wake() noexcept {
    awake_since_.set(sys::monotonic_ns());
    polls_before_ = polls.get();
  }
  void sleep() noexcept {
    parks.add();
    stop();
  }
  /// Nobody runs the worker for now.
  void stop() noexcept {
    const std::uint64_t busy = sys::monotonic_ns() - awake_since_.get();
    busy_ns_.add(busy);
    awake_since_.set(0);
    if (const std::uint64_t polled = polls.get() - polls_before_) {
      poll_ns_ = (poll_ns_ * 7 + busy / polled) / 8;
    }
  }

  /// What a poll of this worker's takes, about: of late, with all that it does between polls. Only
  /// for the worker.
  std::uint64_t poll_ns() const noexcept { return poll_ns_; }

  bool is_awake() const noexcept { return awake_since_.get() != 0; }

  WorkerMetrics metrics() const noexcept {
    WorkerMetrics metrics;
    metrics.polls = polls.get();
    metrics.steals = steals.get();
    metrics.stolen_tasks = stolen_tasks.get();
    metrics.parks = parks.get();
    std::uint64_t busy = busy_ns_.get();
    metrics.is_parked = awake_since_.get() == 0;
    if (const std::uint64_t since = awake_since_.get()) {
      const std::uint64_t now = sys::monotonic_ns();
      busy += now > since ? now - since : 0;
    }
    metrics.busy = std::chrono::nanoseconds(busy);
    return metrics;
  }

  Counter polls;
  Counter steals;  // successful ones
  Counter stolen_tasks;
  Counter parks;
  Counter spawned;
  Counter completed;
  Counter freed;

 private:
  Counter busy_ns_;                    // up to the last sleep
  Counter awake_since_;                // 0: asleep
  std::uint64_t polls_before_ = 0;     // it woke up last
  std::uint64_t poll_ns_ = 1'000'000;  // until it is known
};

}  // namespace rouse::internal
