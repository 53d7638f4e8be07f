// ThreadPark: parks a thread on a condition variable, or in another Park (ParkState has the steps).
//
// An unpark that finds `in_condvar` takes the mutex, so it can't signal between the parker's check
// and its wait. It signals without the mutex: the woken thread, which takes it, would wait once
// more. So whoever unparks keeps the ThreadPark alive, as each does: by the pool or the executor
// that its task belongs to, or by the waker of a block_on.
#pragma once

#include "rouse/base/thread.hpp"
#include "rouse/exec/park.hpp"

#include "exec/park/park_state.hpp"

namespace rouse::internal {

class ThreadPark final : public Park {
 public:
  void park(std::chrono::nanoseconds at_most) override;
  void unpark() noexcept override { static_cast<void>(unpark_here()); }

  /// The same in `other`, which may end for reasons of its own.
  void park_in(Park& other, std::chrono::nanoseconds at_most);
  /// False: the thread sleeps in another Park, which the caller is to unpark.
  [[nodiscard]] bool unpark_here() noexcept;

 private:
  ParkState state_;
  Mutex mutex_;
  CondVar wake_up_;
};

}  // namespace rouse::internal
