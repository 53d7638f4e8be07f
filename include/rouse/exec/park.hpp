// Park: how an idle executor waits. `exec` knows only this interface; a runtime supplies one that
// waits for I/O and unparks at once.
#pragma once

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"

namespace rouse {

class ROUSE_API Park {
 public:
  /// For `at_most`: until the unpark.
  static constexpr std::chrono::nanoseconds for_ever = std::chrono::nanoseconds::max();

  Park() = default;
  Park(const Park&) = delete;
  Park& operator=(const Park&) = delete;
  virtual ~Park();

  /// Waits for an unpark, or for I/O; an earlier unpark counts. May return early (spurious wake),
  /// and returns once `at_most` has passed. Wakes nobody: `poll` does.
  /// Threads: one at a time.
  virtual void park(std::chrono::nanoseconds at_most) = 0;

  /// Wakes the tasks for the I/O events that `park` has found; if there are none, checks for new
  /// ones without waiting. Called after each park, and now and then while tasks run, so that a busy
  /// executor does not starve its I/O.
  /// Threads: one at a time, as `park`.
  virtual void poll() {}

  /// Ends the current or the next `park`. The parked thread then sees what the caller wrote before.
  /// Called with the executor's lock held: must not wake, spawn or abort.
  /// Threads: any.
  virtual void unpark() noexcept = 0;
};

}  // namespace rouse
