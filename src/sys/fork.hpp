// The sys seam, fork: a forked child has one thread only, so whatever needs others must notice. See
// src/sys/README.md.
#pragma once

#include <cstdint>

namespace rouse::sys {

/// How often this process and those it was forked from have been forked since the first call.
std::uint32_t fork_count() noexcept;

}  // namespace rouse::sys
