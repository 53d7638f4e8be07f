// Time points and durations, as used in all of rouse::time.
//
// A time point is a std::chrono::steady_clock::time_point. `time::now()` reads that clock, or the
// runtime's clock, which a test may have paused (time/pause.hpp). Any duration is valid: one that a
// time point can't hold is clamped to the first or last time point.
#pragma once

#include <cstdint>
#include <ratio>
#include <type_traits>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"

namespace rouse::time {

/// A duration.
using Nanoseconds = std::chrono::nanoseconds;
/// A point in time of rouse's clock, in nanoseconds.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Nanoseconds>;

/// Timers fire at the first tick that is not before their deadline.
inline constexpr Nanoseconds resolution = std::chrono::milliseconds(1);

/// The time of the runtime that this thread is in; elsewhere the system's. Never goes back.
/// Threads: any.
[[nodiscard]] ROUSE_API Instant now() noexcept;

}  // namespace rouse::time

namespace rouse::internal {

/// The duration in nanoseconds, rounded up and clamped to what fits. NaN is zero.
template <class Rep, class Period>
[[nodiscard]] constexpr time::Nanoseconds saturate(
    std::chrono::duration<Rep, Period> duration) noexcept {
  using std::chrono::duration_cast;
  if constexpr (std::is_same_v<std::chrono::duration<Rep, Period>, time::Nanoseconds>) {
    return duration;
  } else if constexpr (std::is_integral_v<Rep> && std::ratio_divide<Period, std::nano>::den == 1) {
    std::int64_t count = 0;
    if (!__builtin_mul_overflow(duration.count(), std::ratio_divide<Period, std::nano>::num,
                                &count))
      return time::Nanoseconds(count);
    if constexpr (std::is_signed_v<Rep>) {
      if (duration.count() < 0) return time::Nanoseconds::min();
    }
    return time::Nanoseconds::max();
  } else {
    // Precise enough for the comparison; what is converted exactly below is well within the limits.
    using Wide = std::chrono::duration<long double, std::nano>;
    const Wide wide = duration_cast<Wide>(duration);
    if (wide.count() != wide.count()) return time::Nanoseconds::zero();
    if (wide >= Wide(time::Nanoseconds::max())) return time::Nanoseconds::max();
    if (wide <= Wide(time::Nanoseconds::min())) return time::Nanoseconds::min();
    using Factor = std::ratio_divide<Period, std::nano>;
    if constexpr (std::chrono::treat_as_floating_point_v<Rep>) {
      return std::chrono::ceil<time::Nanoseconds>(wide);
    } else if constexpr (Factor::num != 1 && Factor::den != 1) {
      // For example frames: the count times the numerator may overflow though the result fits.
      using Count = std::common_type_t<Rep, std::intmax_t>;
      const Count count = duration.count();
      const Count whole = count / static_cast<Count>(Factor::den);
      const std::chrono::duration<Count, Period> rest(count % static_cast<Count>(Factor::den));
      return time::Nanoseconds(static_cast<std::int64_t>(whole * static_cast<Count>(Factor::num))) +
             std::chrono::ceil<time::Nanoseconds>(rest);
    } else {
      return std::chrono::ceil<time::Nanoseconds>(duration);
    }
  }
}

}  // namespace rouse::internal

namespace rouse::time {

/// `from + by`, clamped to the first or last time point.
[[nodiscard]] constexpr Instant add(Instant from, Nanoseconds by) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(from.time_since_epoch().count(), by.count(), &sum)) {
    return Instant(Nanoseconds(sum));
  }
  return by < Nanoseconds::zero() ? Instant::min() : Instant::max();
}

}  // namespace rouse::time

namespace rouse::internal {

/// The same for a time point of another resolution.
template <class Duration>
[[nodiscard]] constexpr time::Instant saturate(
    std::chrono::time_point<std::chrono::steady_clock, Duration> time) noexcept {
  return time::Instant(saturate(time.time_since_epoch()));
}

}  // namespace rouse::internal
