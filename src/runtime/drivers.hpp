// RuntimeDrivers: the timers and the reactor of a runtime, as exec's threads use them: timers for
// each worker, one clock and one reactor for all.
// ReactorPark: an idle thread waits in the reactor (ParkState has the steps). Only an unpark that
// finds it there has to call the kernel.
#pragma once

#include <cstddef>

#include "rouse/exec/internal/timer_driver.hpp"
#include "rouse/exec/park.hpp"

#include "exec/park/park_state.hpp"

namespace rouse {
namespace internal {
class Reactor;
}

class ReactorPark final : public Park {
 public:
  /// Throws std::system_error.
  ReactorPark();
  ~ReactorPark() override;

  void park(std::chrono::nanoseconds at_most) override;
  void poll() override;
  void unpark() noexcept override;

  [[nodiscard]] internal::Reactor& reactor() const noexcept { return *reactor_; }

 private:
  const RefPtr<internal::Reactor> reactor_;
  internal::ParkState state_;
  bool has_waited_ = false;  // so the next poll need not ask the kernel once more
};

class RuntimeDrivers : public internal::TimerDrivers {
 public:
  /// As long as this.
  [[nodiscard]] ReactorPark& park() noexcept { return park_; }
  [[nodiscard]] const ReactorPark& park() const noexcept { return park_; }

 private:
  ReactorPark park_;
};

/// The first `executors` that are made are for threads that run tasks, those after them for threads
/// that block. A runtime with one of the former can pause its clock. `is_paused`: it stands still.
/// Throws std::system_error.
RefPtr<RuntimeDrivers> make_drivers(std::size_t executors, bool is_paused);

}  // namespace rouse
