#include "exec/thread_park.hpp"

#include "exec/deadline.hpp"

namespace rouse {

Park::~Park() = default;

void ThreadPark::park(std::chrono::nanoseconds at_most) {
  std::uint32_t expected = notified;
  // ORDER: acquire; sees what was written before the unpark.
  if (state_.compare_exchange_strong(expected, empty, memory_order_acquire, memory_order_relaxed)) {
    return;
  }
  Lock lock(mutex_);
  expected = empty;
  if (state_.compare_exchange_strong(expected, parked, memory_order_relaxed,
                                     memory_order_relaxed)) {
    const Deadline deadline(at_most);
    while (state_.load(memory_order_relaxed) == parked && deadline.wait(wake_up_, lock)) {
    }
  }
  // ORDER: acquire; as above.
  state_.exchange(empty, memory_order_acquire);
}

void ThreadPark::unpark() noexcept {
  // ORDER: release; publishes what was written before.
  if (state_.exchange(notified, memory_order_release) != parked) return;
  const Lock lock(mutex_);
  wake_up_.notify_one();
}

}  // namespace rouse
