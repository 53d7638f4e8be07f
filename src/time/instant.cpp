#include "rouse/time/instant.hpp"

#include "sys/clock.hpp"
#include "time/timers.hpp"

namespace rouse::time {

using namespace internal;

Instant now() noexcept {
  if (const TimeContext* context = TimeContext::current()) return context->clock.now();
  return Instant(Nanoseconds(static_cast<std::int64_t>(sys::monotonic_ns())));
}

}  // namespace rouse::time
