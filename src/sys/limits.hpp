// The sys seam, limits of this process. See src/sys/README.md.
#pragma once

#include <cstddef>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::sys {

/// How many descriptors it may have open at a time.
ROUSE_API std::size_t max_descriptors() noexcept;

}  // namespace rouse::sys
