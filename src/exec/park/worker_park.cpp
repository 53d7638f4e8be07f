#include "exec/park/worker_park.hpp"

#include "rouse/base/internal/block_pool.hpp"

namespace rouse::internal {

bool WorkerPark::park(IoSeat& seat, std::chrono::nanoseconds at_most) {
  tidy_blocks();
  Park* const driver = seat.take();
  if (driver == nullptr) {
    thread_.park(at_most);
    return false;
  }
  thread_.park_in(*driver, at_most);
  return true;
}

void WorkerPark::unpark(IoSeat& seat) noexcept {
  if (!thread_.unpark_here()) seat.unpark();
}

}  // namespace rouse::internal
