// WorkerPark: how one worker of a ThreadPool sleeps. If the pool has an I/O driver (a Park that
// waits for I/O), one of the sleeping workers waits in it and the others wait on a condition
// variable.
#pragma once

#include "rouse/base/atomic.hpp"
#include "rouse/exec/park.hpp"

#include "exec/park/thread_park.hpp"

namespace rouse::internal {

/// The seat in the I/O driver, for one worker at a time.
class IoSeat {
 public:
  explicit IoSeat(Park* driver) noexcept : driver_(driver) {}

  /// Null: there is no driver, or another worker has it.
  Park* take() noexcept {
    if (driver_ == nullptr || taken_.load(memory_order_relaxed)) return nullptr;
    // ORDER: acquire; what the worker before did with the driver.
    return taken_.exchange(true, memory_order_acquire) ? nullptr : driver_;
  }
  // ORDER: release; to the next one.
  void give_back() noexcept { taken_.store(false, memory_order_release); }

  /// For whoever took it.
  void poll() { driver_->poll(); }
  /// Any thread.
  void unpark() noexcept { driver_->unpark(); }

 private:
  Park* const driver_;
  atomic<bool> taken_{false};
};

class WorkerPark {
 public:
  /// Sleeps for at most this long. True: in the driver, whose seat the worker still has: it polls
  /// the driver and gives the seat back. Only on the worker's thread.
  bool park(IoSeat& seat, std::chrono::nanoseconds at_most);
  /// Any thread. What was written before is seen by the worker after its park.
  void unpark(IoSeat& seat) noexcept;

 private:
  ThreadPark thread_;
};

}  // namespace rouse::internal
