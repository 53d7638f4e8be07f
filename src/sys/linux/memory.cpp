#include "sys/memory.hpp"

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace rouse::sys {

void* map_pages(std::size_t bytes, std::size_t alignment) noexcept {
  void* const mapped = ::mmap(nullptr, bytes + alignment, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  // The upper part: the next pages are mapped right below, and the system keeps neighbours as one
  // mapping, of which a process may have some ten thousand.
  char* const begin = static_cast<char*>(mapped);
  const std::uintptr_t mapped_end = reinterpret_cast<std::uintptr_t>(begin) + bytes + alignment;
  const std::size_t above = mapped_end & (alignment - 1);
  const std::size_t below = alignment - above;
  // What is left over on both sides. If it stays, it takes addresses, but no memory.
  unmap_pages(begin, below);
  if (above != 0) unmap_pages(begin + below + bytes, above);
  // A page of 2 MiB for a few blocks would be memory for nothing, and takes long to find.
  ::madvise(begin + below, bytes, MADV_NOHUGEPAGE);
  return begin + below;
}

bool unmap_pages(void* memory, std::size_t bytes) noexcept { return ::munmap(memory, bytes) == 0; }

void drop_pages(void* memory, std::size_t bytes) noexcept {
  const auto page = static_cast<std::uintptr_t>(::getpagesize());
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + page - 1) & ~(page - 1);
  const std::uintptr_t end = (begin + bytes) & ~(page - 1);
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace rouse::sys
