// The sys seam, memory whose contents nobody needs any more. See src/sys/README.md.
#pragma once

#include <cstddef>

namespace rouse::sys {

/// Gives the whole pages in this range to the system: what they hold is lost, and a later use gets
/// new ones. Where that can't be done nothing happens.
void drop_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace rouse::sys
