// Time points and durations, as all of rouse::time takes and gives them.
//
// A time point is one of std::chrono::steady_clock. `time::now()` reads that clock, or the
// runtime's, which a test may have paused (time/pause.hpp). Any duration is valid input: what a
// time point can't hold becomes the last or the first one that it can.
#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>
#include <type_traits>

#include "rouse/base/attributes.hpp"

namespace rouse::time {

using Nanoseconds = std::chrono::nanoseconds;
using Instant = std::chrono::time_point<std::chrono::steady_clock, Nanoseconds>;

/// Timers go by ticks: they fire at the first tick that is not before their deadline.
inline constexpr Nanoseconds resolution = std::chrono::milliseconds(1);

/// The time by the clock of the runtime that this thread is in; elsewhere that of the system. Never
/// goes back. Any thread.
[[nodiscard]] ROUSE_API Instant now() noexcept;

/// The duration in nanoseconds, rounded up; the greatest or the least there is if it does not fit.
/// What is not a number is zero.
template <class Rep, class Period>
[[nodiscard]] constexpr Nanoseconds saturate(std::chrono::duration<Rep, Period> duration) noexcept {
  using std::chrono::duration_cast;
  if constexpr (std::is_same_v<std::chrono::duration<Rep, Period>, Nanoseconds>) {
    return duration;
  } else {
    // Precise enough to compare with; what is converted exactly below is well within the limits.
    using Wide = std::chrono::duration<long double, std::nano>;
    const Wide wide = duration_cast<Wide>(duration);
    if (wide.count() != wide.count()) return Nanoseconds::zero();
    if (wide >= Wide(Nanoseconds::max())) return Nanoseconds::max();
    if (wide <= Wide(Nanoseconds::min())) return Nanoseconds::min();
    using Factor = std::ratio_divide<Period, std::nano>;
    if constexpr (std::chrono::treat_as_floating_point_v<Rep>) {
      return std::chrono::ceil<Nanoseconds>(wide);
    } else if constexpr (Factor::num != 1 && Factor::den != 1) {
      // Frames, for instance: the count times the numerator may not fit though the result does.
      using Count = std::common_type_t<Rep, std::intmax_t>;
      const Count count = duration.count();
      const Count whole = count / static_cast<Count>(Factor::den);
      const std::chrono::duration<Count, Period> rest(count % static_cast<Count>(Factor::den));
      return Nanoseconds(static_cast<std::int64_t>(whole * static_cast<Count>(Factor::num))) +
             std::chrono::ceil<Nanoseconds>(rest);
    } else {
      return std::chrono::ceil<Nanoseconds>(duration);
    }
  }
}

/// `from + by`, at most the last and at least the first time point there is.
[[nodiscard]] constexpr Instant add(Instant from, Nanoseconds by) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(from.time_since_epoch().count(), by.count(), &sum)) {
    return Instant(Nanoseconds(sum));
  }
  return by < Nanoseconds::zero() ? Instant::min() : Instant::max();
}

/// The same for a time point of another resolution.
template <class Duration>
[[nodiscard]] constexpr Instant saturate(
    std::chrono::time_point<std::chrono::steady_clock, Duration> time) noexcept {
  return Instant(saturate(time.time_since_epoch()));
}

}  // namespace rouse::time
