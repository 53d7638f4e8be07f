#include "exec/park/thread_park.hpp"

#include "exec/park/deadline.hpp"

namespace rouse::internal {

void ThreadPark::park(std::chrono::nanoseconds at_most) {
  if (state_.is(ParkState::notified)) return state_.leave();  // spares the lock
  Lock lock(mutex_);
  if (state_.enter(ParkState::in_condvar)) {
    const Deadline deadline(at_most);
    while (state_.is(ParkState::in_condvar) && deadline.wait(wake_up_, lock)) {
    }
  }
  state_.leave();
}

void ThreadPark::park_in(Park& other, std::chrono::nanoseconds at_most) {
  if (state_.enter(ParkState::in_io_driver)) other.park(at_most);
  state_.leave();
}

bool ThreadPark::unpark_here() noexcept {
  const ParkState::State before = state_.notify();
  if (before == ParkState::in_condvar) {
    {
      const Lock lock(mutex_);
    }
    wake_up_.notify_one();
  }
  return before != ParkState::in_io_driver;
}

}  // namespace rouse::internal
