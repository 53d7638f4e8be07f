// The calendar's time, for what ends at a date, as certificates do.
#pragma once

#include <cstdint>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::time {

/// Seconds since 1970, as the system's clock shows them. Whoever advances a runtime's clock, as
/// tests do, advances this one as well.
/// Threads: any.
[[nodiscard]] ROUSE_API std::int64_t calendar_seconds() noexcept;

}  // namespace rouse::time
