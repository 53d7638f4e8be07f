// How long after the wake of a task from outside the task runs.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "support/measure.hpp"

namespace bench {

class WakeLatency {
 public:
  /// For the task, each time that it runs.
  void note() {
    noted_.store(Clock::now().time_since_epoch().count(), std::memory_order_release);
    noted_.notify_one();
  }

  /// For a thread outside: wakes `n` times, each time after a pause in which the runtime falls
  /// asleep. It waits for the task without a CPU: spinning, it would be in the way of who was
  /// woken. The median and the 99th percentile in microseconds.
  template <class Wake>
  std::vector<double> measure(long n, Wake&& wake) {
    std::vector<double> latencies;
    for (long i = 0; i < n; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      noted_.store(0, std::memory_order_relaxed);
      const Clock::time_point start = Clock::now();
      wake();
      noted_.wait(0, std::memory_order_acquire);
      const Clock::time_point noted(Clock::duration(noted_.load(std::memory_order_acquire)));
      latencies.push_back(ns_between(start, noted) / 1e3);
    }
    return percentiles(latencies, {0.5, 0.99});
  }

 private:
  std::atomic<Clock::rep> noted_ = 0;
};

}  // namespace bench
