// The sys seam, clock: the one place where time is read. See src/sys/README.md.
#pragma once

#include <cstdint>

namespace rouse::sys {

/// Nanoseconds since some point in the past. Never goes back.
std::uint64_t monotonic_ns() noexcept;

}  // namespace rouse::sys
