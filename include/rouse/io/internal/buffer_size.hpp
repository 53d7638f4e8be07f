// The size of the buffer inside a BufReader or a BufWriter.
#pragma once

#include <cstddef>

namespace rouse::internal {

/// Unless told otherwise.
inline constexpr std::size_t default_buffer_size = std::size_t{8} * 1024;

}  // namespace rouse::internal
