#include "sys/memory.hpp"

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace rouse::sys {

void drop_pages(void* memory, std::size_t bytes) noexcept {
  const auto page = static_cast<std::uintptr_t>(::getpagesize());
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + page - 1) & ~(page - 1);
  const std::uintptr_t end = (begin + bytes) & ~(page - 1);
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace rouse::sys
