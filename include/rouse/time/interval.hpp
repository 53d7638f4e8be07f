// interval, interval_at: ticks at a fixed period.
//
//   Interval every = interval(100ms);
//   for (;;) {
//     co_await every.tick();      // the first one at once
//     show_progress();
//   }
//
// Ticks do not drift: the n-th is due n periods after the first, however late the earlier ones were
// taken. MissedTick says what happens if one is taken so late that the next is already due.
#pragma once

#include <cstdint>
#include <optional>

#include "rouse/base/internal/durations.hpp"
#include "rouse/core/future.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/internal/timer_entry.hpp"

namespace rouse {

enum class MissedTick : std::uint8_t {
  burst,  ///< missed ticks come at once, one after another
  delay,  ///< the next tick comes a full period after the late one was taken
  skip,   ///< missed ticks are skipped: the next is the first that is not due yet
};

class IntervalTick;

/// An endless stream of time points. May be moved at any time, but not while somebody awaits its
/// `tick()`; no tick is lost.
class ROUSE_API Interval {
 public:
  using Item = time::Instant;

  /// The period must be greater than zero.
  Interval(time::Instant first, time::Nanoseconds period) noexcept;

  Interval(Interval&& other) noexcept;
  Interval& operator=(Interval&& other) noexcept;

  /// Completes at the next tick. See IntervalTick.
  [[nodiscard]] IntervalTick tick() noexcept;
  /// Like a future's poll: ready with the time at which the tick was due.
  Poll<time::Instant> poll_tick(Context& cx);
  Poll<std::optional<time::Instant>> poll_next(Context& cx) {
    return poll_tick(cx).map([](time::Instant at) { return std::optional(at); });
  }

  /// The time between two ticks.
  [[nodiscard]] time::Nanoseconds period() const noexcept { return period_; }
  /// What happens to missed ticks.
  [[nodiscard]] MissedTick missed_tick() const noexcept { return missed_; }
  /// Applies from the next missed tick on. Default: burst.
  void set_missed_tick(MissedTick missed) noexcept { missed_ = missed; }
  // The following ticks come a period apart. A pending `tick` is updated.
  /// The next tick comes a period from now.
  void reset() { reset_at(time::add(time::now(), period_)); }
  /// The next tick comes now.
  void reset_immediately() { reset_at(time::now()); }
  /// The next tick comes after this time, counted from now.
  template <class Rep, class Period>
  void reset_after(std::chrono::duration<Rep, Period> delay) {
    reset_at(time::add(time::now(), internal::saturate(delay)));
  }
  /// The next tick comes at this time.
  void reset_at(time::Instant next) { timer_.reset(next); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Interval, nullptr, one, &Interval::timer_)

 private:
  [[nodiscard]] time::Instant after(time::Instant due, time::Instant now) const noexcept;

  internal::TimerEntry timer_;
  time::Nanoseconds period_;
  MissedTick missed_ = MissedTick::burst;
};

/// Completes when the next tick is due, with the time at which it was due. It borrows the interval.
/// Cancel safety: dropping it loses nothing.
/// Threads: any thread of a runtime; one tick at a time.
/// Errors: none.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] IntervalTick {
 public:
  using Output = time::Instant;
  explicit IntervalTick(Interval& interval) noexcept : interval_(&interval) {}
  Poll<time::Instant> poll(Context& cx) { return interval_->poll_tick(cx); }
  [[nodiscard]] static bool borrows() noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(IntervalTick, nullptr, one, &IntervalTick::interval_)

 private:
  Interval* interval_;
};

inline IntervalTick Interval::tick() noexcept { return IntervalTick(*this); }

/// Ticks at `first`, then each `period`, which is greater than zero.
template <class Duration, class Rep, class Period>
[[nodiscard]] Interval interval_at(
    std::chrono::time_point<std::chrono::steady_clock, Duration> first,
    std::chrono::duration<Rep, Period> period) noexcept {
  return Interval(internal::saturate(first), internal::saturate(period));
}

/// Ticks at once, then each `period`, which is greater than zero.
template <class Rep, class Period>
[[nodiscard]] Interval interval(std::chrono::duration<Rep, Period> period) noexcept {
  return Interval(time::now(), internal::saturate(period));
}

}  // namespace rouse
