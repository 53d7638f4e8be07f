// ThreadPark: parks a thread on a condition variable.
//
//   empty --park--> parked --unpark--> notified --(wakes up)--> empty
//   empty --unpark--> notified --park--> empty   (returns at once)
//
// No unpark is lost: it leaves `notified` behind, which the next park consumes. An unpark that
// finds `parked` takes the mutex, so it can't signal between the parker's check and its wait.
#pragma once

#include <cstdint>

#include "rouse/base/thread.hpp"
#include "rouse/exec/park.hpp"

namespace rouse {

class ThreadPark final : public Park {
 public:
  void park(std::chrono::nanoseconds at_most) override;
  void unpark() noexcept override;

 private:
  enum : std::uint32_t { empty, parked, notified };
  atomic<std::uint32_t> state_{empty};
  Mutex mutex_;
  CondVar wake_up_;
};

}  // namespace rouse
