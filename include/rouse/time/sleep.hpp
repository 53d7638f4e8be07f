// sleep, sleep_until: wait for a time to pass.
//
//   co_await sleep(200ms);
//   co_await sleep_until(time::now() + 1s);
//
// Never early. On an idle machine at most one tick (a millisecond) late, and what the scheduler
// adds. A sleeping task costs no allocation: the timer is inside the future, 56 bytes.
#pragma once

#include <chrono>

#include "rouse/core/future.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/timer_entry.hpp"

namespace rouse {

/// Completes at the first tick at or after its deadline; at once, with the first poll, if that has
/// passed when it is made. Dropped midway, nothing is lost. Any thread of a runtime (a task, or
/// under Runtime::enter): the one that polls it first looks after it, and dropping it elsewhere
/// costs the same. No errors.
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Sleep {
 public:
  using Output = void;

  explicit Sleep(time::Instant deadline) noexcept : entry_(deadline) {}
  Sleep(time::Instant deadline, time::Instant now) noexcept : entry_(deadline, now) {}

  Poll<void> poll(Context& cx) {
    if (!entry_.poll(cx) || !cx.take_budget()) return pending;
    return Poll<void>::ready();
  }

  [[nodiscard]] time::Instant deadline() const noexcept { return entry_.deadline; }
  /// Whether the timer has fired: a poll would be ready.
  [[nodiscard]] bool is_elapsed() const noexcept { return entry_.has_fired(); }

  /// Sleeps until another time from now on, also after it was ready: then poll it again. Whoever
  /// waits for it already is woken at the new time.
  void reset(time::Instant deadline) { entry_.reset(deadline); }

 private:
  time::TimerEntry entry_;
};

static_assert(sizeof(Sleep) == 7 * sizeof(void*) || model_checker);

/// Sleeps until `deadline`. The last time point there is, is never reached.
template <class Duration>
Sleep sleep_until(std::chrono::time_point<std::chrono::steady_clock, Duration> deadline) noexcept {
  return Sleep(time::saturate(deadline));
}

/// Sleeps for `duration`, from this call on, not from the first poll. Zero or less: ready at once.
/// A duration that no time point can hold sleeps until the last one.
template <class Rep, class Period>
Sleep sleep(std::chrono::duration<Rep, Period> duration) noexcept {
  const time::Instant now = time::now();
  return Sleep(time::add(now, time::saturate(duration)), now);
}

}  // namespace rouse
