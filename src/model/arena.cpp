#include "model/arena.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace rouse::model {
namespace {

constexpr std::size_t region_bytes = std::size_t{16} << 20U;
constexpr std::size_t arena_bytes = region_bytes * max_threads;

// Address space for all arenas of the process, so that their memory is known at a glance. An arena
// that something still refers to is never used again.
constexpr std::size_t arena_count = 256;
constexpr std::size_t space_bytes = arena_bytes * arena_count;

struct Space {
  char* begin = nullptr;
  std::size_t used = 0;
  std::vector<std::size_t> unused;  // given back

  std::size_t take() {
    if (begin == nullptr) {
      void* memory = ::mmap(nullptr, space_bytes, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) std::abort();
      begin = static_cast<char*>(memory);
    }
    if (unused.empty()) {
      if (used == arena_count) std::abort();
      return used++;
    }
    const std::size_t number = unused.back();
    unused.pop_back();
    return number;
  }
};
Space& space() {
  static auto* const instance = new Space;  // never destroyed: memory is freed until the very end
  return *instance;
}
constinit const char* space_begin = nullptr;

}  // namespace

Arena::Arena() {
  const std::size_t number = space().take();
  memory_ = space().begin + number * arena_bytes;
  space_begin = space().begin;
  if (::mprotect(memory_, arena_bytes, PROT_READ | PROT_WRITE) != 0) std::abort();
  for (std::size_t i = 0; i < max_threads; ++i) {
    regions_[i].begin = regions_[i].next = memory_ + i * region_bytes;
  }
}

Arena::~Arena() {
  if (is_kept_) return;
  ::madvise(memory_, arena_bytes, MADV_DONTNEED);
  space().unused.push_back(static_cast<std::size_t>(memory_ - space().begin) / arena_bytes);
}

bool Arena::owns(const void* memory) noexcept {
  const auto* address = static_cast<const char*>(memory);
  return space_begin != nullptr && address >= space_begin && address < space_begin + space_bytes;
}

Arena::Position Arena::position_of(const void* memory) noexcept {
  const auto distance = static_cast<std::size_t>(static_cast<const char*>(memory) - space_begin);
  return {static_cast<ThreadIndex>(distance % arena_bytes / region_bytes), distance % region_bytes};
}

void Arena::begin_execution() noexcept {
  for (Region& region : regions_) {
    region.next = region.begin;
    region.blocks.clear();
  }
  live_ = 0;
}

void* Arena::allocate(ThreadIndex thread, std::uint32_t step, std::size_t size,
                      std::size_t alignment) {
  Region& region = regions_[thread];
  const auto at = reinterpret_cast<std::uintptr_t>(region.next);
  char* start = region.next + ((at + alignment - 1) / alignment * alignment - at);
  const std::size_t left = region_bytes - static_cast<std::size_t>(start - region.begin);
  if (size + 1 > left) return nullptr;
  region.next = start + size + 1;  // blocks have different addresses, empty ones too
  region.blocks.push_back({start, size, thread, step, true});
  ++live_;
  return start;
}

const Arena::Block* Arena::find(const void* address) const noexcept {
  const auto* at = static_cast<const char*>(address);
  if (at < memory_ || at >= memory_ + arena_bytes) return nullptr;
  const Region& region = regions_[static_cast<std::size_t>(at - memory_) / region_bytes];
  auto after = std::upper_bound(region.blocks.begin(), region.blocks.end(), at,
                                [](const char* a, const Block& block) { return a < block.start; });
  if (after == region.blocks.begin()) return nullptr;
  const Block& block = *--after;
  return at < block.start + std::max<std::size_t>(block.size, 1) ? &block : nullptr;
}

Arena::Freed Arena::free(void* memory) noexcept {
  auto* block = const_cast<Block*>(find(memory));
  if (block == nullptr || block->start != memory) return Freed::never_made;
  if (!block->live) return Freed::before;
  block->live = false;
  --live_;
  std::memset(block->start, freed_byte, block->size);
  return Freed::now;
}

const Arena::Block* Arena::first_live() const noexcept {
  const Block* first = nullptr;
  for (const Region& region : regions_) {
    for (const Block& block : region.blocks) {
      if (block.live && (first == nullptr || block.step < first->step)) first = &block;
    }
  }
  return first;
}

}  // namespace rouse::model
