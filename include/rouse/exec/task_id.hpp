// TaskId: which task it is.
#pragma once

#include <cstdint>

namespace rouse {

/// Unique in the process, never 0.
using TaskId = std::uint64_t;

}  // namespace rouse
