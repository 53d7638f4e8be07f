// Park: how an executor that has nothing to do waits. `exec` knows only this much; a runtime gives
// one that waits for I/O and unparks at once.
#pragma once

#include <chrono>

#include "rouse/base/attributes.hpp"

namespace rouse {

class ROUSE_API Park {
 public:
  /// As `at_most`: until the unpark.
  static constexpr std::chrono::nanoseconds for_ever = std::chrono::nanoseconds::max();

  Park() = default;
  Park(const Park&) = delete;
  Park& operator=(const Park&) = delete;
  virtual ~Park();

  /// Waits for an unpark, or for I/O; an unpark that came before counts. May return early, and
  /// returns once `at_most` has passed. Wakes nobody: `poll` does. One thread at a time.
  virtual void park(std::chrono::nanoseconds at_most) = 0;

  /// Wakes those whom the I/O concerns that `park` has found; if it has found none, looks for some
  /// without waiting. Called after each park, and now and then while tasks run, so that a busy
  /// executor does not starve its I/O. As `park`: one thread at a time.
  virtual void poll() {}

  /// Ends the current or the next `park`. Any thread. What the caller wrote before is seen by the
  /// parked thread after. Called with the executor's lock held: must not wake, spawn or abort.
  virtual void unpark() noexcept = 0;
};

}  // namespace rouse
