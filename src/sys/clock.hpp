// The sys seam, clock: the one place where time is read. See src/sys/README.md.
#pragma once

#include <cstdint>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::sys {

/// Nanoseconds since some point in the past. Never goes back.
std::uint64_t monotonic_ns() noexcept;
/// Seconds since 1970, as the system's clock shows them: for people and for other programs.
ROUSE_API std::int64_t unix_seconds() noexcept;

}  // namespace rouse::sys
