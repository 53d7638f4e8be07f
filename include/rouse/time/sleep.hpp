// sleep, sleep_until: wait for some time.
//
//   co_await sleep(200ms);
//   co_await sleep_until(time::now() + 1s);
//
// Never early. On an idle machine it is late by at most one tick (a millisecond) plus the OS
// scheduler's delay. A sleeping task costs no allocation: the timer is inside the future, 56 bytes.
#pragma once

#include "rouse/base/internal/durations.hpp"
#include "rouse/core/future.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/internal/timer_entry.hpp"

namespace rouse {

/// Completes at the first tick at or after its deadline; at the first poll, if the deadline has
/// passed when it is created.
/// Cancel safety: dropping it loses nothing.
/// Threads: any thread of a runtime (a task, or under Runtime::enter). The first one to poll it
/// drives its timer; dropping it elsewhere costs the same.
/// Errors: none.
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Sleep {
 public:
  using Output = void;

  explicit Sleep(time::Instant deadline) noexcept : entry_(deadline) {}
  Sleep(time::Instant deadline, time::Instant now) noexcept : entry_(deadline, now) {}

  Poll<void> poll(Context& cx) {
    if (!entry_.poll(cx) || !cx.take_budget()) return pending;
    return Poll<void>::ready();
  }

  /// When it ends.
  [[nodiscard]] time::Instant deadline() const noexcept { return entry_.deadline; }
  /// Whether the timer has fired: a poll would be ready.
  [[nodiscard]] bool is_elapsed() const noexcept { return entry_.has_fired(); }

  /// Changes the deadline, even after it was ready: then poll it again. A current waiter is woken
  /// at the new time.
  void reset(time::Instant deadline) { entry_.reset(deadline); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Sleep, nullptr, one, &Sleep::entry_)

 private:
  internal::TimerEntry entry_;
};

static_assert(sizeof(Sleep) == 7 * sizeof(void*) || internal::model_checker);

/// Sleeps until `deadline`. The last time point is never reached.
template <class Duration>
Sleep sleep_until(std::chrono::time_point<std::chrono::steady_clock, Duration> deadline) noexcept {
  return Sleep(internal::saturate(deadline));
}

/// Sleeps for `duration`, counted from this call, not from the first poll. Zero or less: ready at
/// once. A duration that no time point can hold sleeps until the last one.
template <class Rep, class Period>
Sleep sleep(std::chrono::duration<Rep, Period> duration) noexcept {
  const time::Instant now = time::now();
  return Sleep(time::add(now, internal::saturate(duration)), now);
}

}  // namespace rouse
