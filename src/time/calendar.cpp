#include "time/calendar.hpp"

#include <chrono>

#include "rouse/time/instant.hpp"

#include "sys/clock.hpp"

namespace rouse::time {

std::int64_t calendar_seconds() noexcept {
  const Nanoseconds real(static_cast<std::int64_t>(sys::monotonic_ns()));
  const Nanoseconds ahead = now().time_since_epoch() - real;
  return sys::unix_seconds() + std::chrono::duration_cast<std::chrono::seconds>(ahead).count();
}

}  // namespace rouse::time
