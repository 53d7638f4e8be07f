// RuntimeDrivers: the timers and the reactor of a runtime, as exec's threads use them: timers for
// each worker, one clock and one reactor for all.
// ReactorPark: an idle thread waits in the reactor.
//
//   empty --park--> parked --unpark--> notified --(wakes up)--> empty
//   empty --unpark--> notified --park--> empty   (returns at once)
//
// Only an unpark that finds `parked` has to call the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rouse/base/atomic.hpp"
#include "rouse/exec/driver.hpp"
#include "rouse/exec/park.hpp"

namespace rouse {
namespace io {
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

  [[nodiscard]] io::Reactor& reactor() const noexcept { return *reactor_; }

 private:
  enum : std::uint32_t { empty, parked, notified };
  const RefPtr<io::Reactor> reactor_;
  atomic<std::uint32_t> state_{empty};
};

class RuntimeDrivers : public Drivers {
 public:
  /// As long as this.
  [[nodiscard]] ReactorPark& park() noexcept { return park_; }

 private:
  ReactorPark park_;
};

/// The first `executors` that are made are for threads that run tasks, those after them for threads
/// that block. A runtime with one of the former can pause its clock. `is_paused`: it stands still.
/// Throws std::system_error.
RefPtr<RuntimeDrivers> make_drivers(std::size_t executors, bool is_paused);

}  // namespace rouse
