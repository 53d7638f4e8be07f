// The load of a soak: everything that a program does with a runtime, mixed, without a pause, and
// what was counted meanwhile. Each part checks its own results.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "rouse/core/async.hpp"
#include "rouse/time/instant.hpp"

#include "support/latencies.hpp"

namespace rouse::soak {

/// What all parts count, on any thread.
class Figures {
 public:
  using Count = std::atomic<std::uint64_t>;

  Count replies{0};   // of the echo server
  Count cut{0};       // round trips that were dropped midway
  Count messages{0};  // through channels
  Count timers{0};    // sleeps and timeouts that ended
  Count aborted{0};   // tasks
  Count blocking{0};  // calls
  Count guards{0};    // objects inside of tasks that are alive
  Count mistakes{0};  // anything that should not have been
  test::Latencies round_trip;
  test::Latencies tick;  // how late the ticks of a 1 ms interval are

  void mistake(const std::string& what) {
    mistakes.fetch_add(1, std::memory_order_relaxed);
    const std::scoped_lock lock(mutex_);
    first_mistake_ = first_mistake_.empty() ? what : first_mistake_;
  }
  [[nodiscard]] std::string first_mistake() const {
    const std::scoped_lock lock(mutex_);
    return first_mistake_;
  }

 private:
  mutable std::mutex mutex_;
  std::string first_mistake_;
};

/// When the load ends: at a time, or when it is told to.
class End {
 public:
  /// `told` outlives all copies.
  End(time::Instant at, const std::atomic<bool>& told) noexcept : at_(at), told_(&told) {}
  [[nodiscard]] bool is_ahead() const noexcept {
    return !told_->load(std::memory_order_relaxed) && time::now() < at_;
  }

 private:
  time::Instant at_;
  const std::atomic<bool>* told_;
};

/// Completes some time after the end, when all tasks it started have ended.
Async<void> full_load(Figures& figures, End end);

}  // namespace rouse::soak
