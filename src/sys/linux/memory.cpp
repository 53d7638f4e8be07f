#include "sys/memory.hpp"

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace rouse::sys {

void* map_pages(std::size_t bytes, std::size_t alignment) noexcept {
  void* const mapped = ::mmap(nullptr, bytes + alignment, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapped);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) & (alignment - 1);
  // What is left over on both sides. If it stays, it takes addresses, but no memory.
  if (before != 0) unmap_pages(begin, before);
  unmap_pages(begin + before + bytes, alignment - before);
  return begin + before;
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
