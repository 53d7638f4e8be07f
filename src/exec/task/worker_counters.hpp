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
    if (has_slept_ && polls.get() == polls_before_) idle_wakes.add();
    parks.add();
    stop();
    has_slept_ = true;
  }
  /// Nobody runs the worker for now.
  void stop() noexcept {
    const std::uint64_t busy = sys::monotonic_ns() - awake_since_.get();
    busy_ns_.add(busy);
    awake_since_.set(0);
    has_slept_ = false;
    if (const std::uint64_t polled = polls.get() - polls_before_) {
      const std::uint64_t mean = (poll_ns() * 7 + busy / polled) / 8;
      poll_ns_.set(mean == 0 ? 1 : mean);
    }
  }

  /// What a poll of this worker's takes, about: of late, with all that it does between polls. Only
  /// for the worker.
  std::uint64_t poll_ns() const noexcept {
    return poll_ns_.get() == 0 ? poll_ns_at_first : poll_ns_.get();
  }

  bool is_awake() const noexcept { return awake_since_.get() != 0; }

  WorkerMetrics metrics() const noexcept {
    WorkerMetrics metrics;
    metrics.polls = polls.get();
    metrics.steals = steals.get();
    metrics.stolen_tasks = stolen_tasks.get();
    metrics.parks = parks.get();
    metrics.idle_wakes = idle_wakes.get();
    metrics.timers_fired = timers_fired.get();
    metrics.budgets_used_up = budgets_used_up.get();
    metrics.mean_poll = std::chrono::nanoseconds(poll_ns_.get());
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
  Counter idle_wakes;  // it slept again before it polled
  Counter timers_fired;
  Counter budgets_used_up;
  Counter spawned;
  Counter completed;
  Counter freed;

 private:
  static constexpr std::uint64_t poll_ns_at_first = 1'000'000;

  Counter busy_ns_;                 // up to the last sleep
  Counter awake_since_;             // 0: asleep
  std::uint64_t polls_before_ = 0;  // it woke up last
  bool has_slept_ = false;          // before that
  Counter poll_ns_;                 // 0: not known
};

}  // namespace rouse::internal
