// interval, interval_at: ticks, a period apart.
//
//   Interval every = interval(100ms);
//   for (;;) {
//     co_await every.tick();      // the first one at once
//     show_progress();
//   }
//
// Ticks do not drift: the n-th is due n periods after the first, whenever the ones before were
// taken. What happens when one is taken so late that the next is due already, is up to MissedTick.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "rouse/core/future.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/timer_entry.hpp"

namespace rouse {

enum class MissedTick : std::uint8_t {
  burst,  ///< those that were missed come one after another, until none is left
  delay,  ///< the next comes a full period after the late one was taken
  skip,   ///< those that were missed do not come: the next is the first that is not due yet
};

class Interval;

/// Completes when the next tick is due, with the time it was due at. Dropped midway, nothing is
/// lost. It borrows the interval. Any thread of a runtime; one tick at a time. No errors.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] IntervalTick {
 public:
  using Output = time::Instant;
  explicit IntervalTick(Interval& interval) noexcept : interval_(interval) {}
  Poll<time::Instant> poll(Context& cx);
  [[nodiscard]] static bool borrows() noexcept { return true; }

 private:
  Interval& interval_;
};

/// A stream of time points that does not end. May be moved until it was polled first.
class ROUSE_API Interval {
 public:
  using Item = time::Instant;

  /// The period is greater than zero.
  Interval(time::Instant first, time::Nanoseconds period) noexcept;

  [[nodiscard]] IntervalTick tick() noexcept { return IntervalTick(*this); }
  /// As a future's poll: ready with the time the tick was due at.
  Poll<time::Instant> poll_tick(Context& cx);
  Poll<std::optional<time::Instant>> poll_next(Context& cx) {
    return poll_tick(cx).map([](time::Instant at) { return std::optional(at); });
  }

  [[nodiscard]] time::Nanoseconds period() const noexcept { return period_; }
  [[nodiscard]] MissedTick missed_tick() const noexcept { return missed_; }
  /// From the next tick that is missed on. At first: burst.
  void set_missed_tick(MissedTick missed) noexcept { missed_ = missed; }
  /// The next tick comes a period from now.
  void reset() { reset_at(time::add(time::now(), period_)); }
  /// The next tick comes at that time, the others a period after each other.
  void reset_at(time::Instant next) { timer_.reset(next); }

 private:
  [[nodiscard]] time::Instant after(time::Instant due, time::Instant now) const noexcept;

  time::TimerEntry timer_;
  time::Nanoseconds period_;
  MissedTick missed_ = MissedTick::burst;
};

inline Poll<time::Instant> IntervalTick::poll(Context& cx) { return interval_.poll_tick(cx); }

/// Ticks at `first`, then each `period`, which is greater than zero.
template <class Duration, class Rep, class Period>
[[nodiscard]] Interval interval_at(
    std::chrono::time_point<std::chrono::steady_clock, Duration> first,
    std::chrono::duration<Rep, Period> period) noexcept {
  return Interval(time::saturate(first), time::saturate(period));
}

/// Ticks at once, then each `period`, which is greater than zero.
template <class Rep, class Period>
[[nodiscard]] Interval interval(std::chrono::duration<Rep, Period> period) noexcept {
  return Interval(time::now(), time::saturate(period));
}

}  // namespace rouse
