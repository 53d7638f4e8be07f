// WorkerPark: how one worker of a ThreadPool sleeps. If the pool has a driver (a Park that waits
// for I/O), one of the sleeping workers waits in it and the others on a condition
// variable.
//
//   empty --park--> in_condvar or in_driver --unpark--> notified --(wakes up)--> empty
//   empty --unpark--> notified --park--> empty   (returns at once)
//
// A sleep that lasted long enough ends as one that was unparked.
#pragma once

#include <cstdint>

#include "rouse/base/thread.hpp"
#include "rouse/exec/park.hpp"

namespace rouse {

/// The place in the driver, for one worker at a time.
class DriverSeat {
 public:
  explicit DriverSeat(Park* driver) noexcept : driver_(driver) {}

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
  /// Sleeps so long at most. True: in the driver, which the worker still has: it polls it and gives
  /// it back. One thread, the worker's.
  bool park(DriverSeat& seat, std::chrono::nanoseconds at_most);
  /// Any thread. What was written before is seen by the worker after its park.
  void unpark(DriverSeat& seat) noexcept;

 private:
  enum : std::uint32_t { empty, in_condvar, in_driver, notified };
  bool enter(std::uint32_t place) noexcept;
  void wait(std::chrono::nanoseconds at_most) noexcept;

  atomic<std::uint32_t> state_{empty};
  Mutex mutex_;
  CondVar wake_up_;
};

}  // namespace rouse
