#include "exec/worker_park.hpp"

#include "rouse/base/block_pool.hpp"

#include "exec/deadline.hpp"

namespace rouse {

bool WorkerPark::park(DriverSeat& seat, std::chrono::nanoseconds at_most) {
  tidy_blocks();
  Park* const driver = seat.take();
  if (driver == nullptr) {
    wait(at_most);
    return false;
  }
  if (enter(in_driver)) driver->park(at_most);
  // ORDER: acquire; sees what was written before the unpark.
  state_.exchange(empty, memory_order_acquire);
  return true;
}

void WorkerPark::wait(std::chrono::nanoseconds at_most) noexcept {
  Lock lock(mutex_);
  if (enter(in_condvar)) {
    const Deadline deadline(at_most);
    while (state_.load(memory_order_relaxed) == in_condvar && deadline.wait(wake_up_, lock)) {
    }
  }
  // ORDER: acquire; sees what was written before the unpark.
  state_.exchange(empty, memory_order_acquire);
}

/// False: it was unparked before.
bool WorkerPark::enter(std::uint32_t place) noexcept {
  std::uint32_t expected = empty;
  return state_.compare_exchange_strong(expected, place, memory_order_relaxed,
                                        memory_order_relaxed);
}

void WorkerPark::unpark(DriverSeat& seat) noexcept {
  // ORDER: release; publishes what was written before.
  switch (state_.exchange(notified, memory_order_release)) {
    case in_condvar: {
      const Lock lock(mutex_);
      wake_up_.notify_one();
      return;
    }
    case in_driver:
      return seat.unpark();
    default:
      return;
  }
}

}  // namespace rouse
