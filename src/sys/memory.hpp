// The sys seam, whole pages of memory. See src/sys/README.md.
#pragma once

#include <cstddef>

namespace rouse::sys {

/// New pages, all zero, at an address that is a multiple of `alignment`. Both are multiples of the
/// page size. Null: there is no memory.
void* map_pages(std::size_t bytes, std::size_t alignment) noexcept;
/// Gives these, or a part of them, back. False: the system could not, and they are still there.
bool unmap_pages(void* memory, std::size_t bytes) noexcept;

/// Gives the whole pages in this range to the system: what they hold is lost, and a later use gets
/// new ones. Where that can't be done nothing happens.
void drop_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace rouse::sys
