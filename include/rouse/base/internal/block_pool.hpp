// Memory for coroutine frames and tasks: per-thread lists of blocks by size class. In steady state
// a block costs a few instructions and no lock.
//
// A block may be freed on another thread than it was made on. It goes back to the heap it was cut
// from, in batches: blocks of two threads are never neighbours in a cache line, and a thread that
// only allocates reuses what another only frees. Memory goes from thread to thread and back to the
// system in chunks of 64 KiB, once all of one is free: see src/base/block_depot.hpp. The heap of a
// thread that ended goes to a later one.
//
// Under AddressSanitizer and the model checker every block comes from and goes to operator
// new/delete, so that leaks and uses after free are seen.
#pragma once

#include <cstddef>
#include <new>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::internal {

/// Size classes: 16-byte steps up to 1 KiB, then four steps a doubling up to 32 KiB. Larger blocks
/// come from operator new.
struct BlockClass {
  static constexpr std::size_t granule = 16;
  static constexpr std::size_t small_limit = 1024;
  static constexpr std::size_t large_limit = 32 * 1024;
  static constexpr std::size_t small_count = small_limit / granule;
  static constexpr std::size_t count = small_count + 4 * 5;

  static constexpr std::size_t of(std::size_t size) noexcept {
    if (size == 0) return 0;
    if (size <= small_limit) return (size - 1) / granule;
    const auto doubling = static_cast<std::size_t>(63 - __builtin_clzll((size - 1) / small_limit));
    const std::size_t base = small_limit << doubling;
    return small_count + 4 * doubling + (size - 1 - base) / (base / 4);
  }
  /// `count`: none, it comes from operator new.
  static constexpr std::size_t of_any(std::size_t size) noexcept {
    return size > large_limit ? count : of(size);
  }
  static constexpr std::size_t bytes(std::size_t index) noexcept {
    if (index < small_count) return (index + 1) * granule;
    const std::size_t base = small_limit << ((index - small_count) / 4);
    return base + ((index - small_count) % 4 + 1) * (base / 4);
  }
};

inline constexpr bool blocks_are_pooled = !address_sanitizer && !model_checker;

[[nodiscard]] ROUSE_API void* allocate_class(std::size_t index);
ROUSE_API void free_class(void* block, std::size_t index) noexcept;

/// Aligned for any type that is not over-aligned. Throws std::bad_alloc.
/// Inline, because a coroutine's frame size is a constant: only its class reaches the pool.
[[nodiscard]] inline void* allocate_block(std::size_t size) {
  if (!blocks_are_pooled || size > BlockClass::large_limit) return ::operator new(size);
  return allocate_class(BlockClass::of(size));
}

/// `size` must be the one given to `allocate_block`.
inline void free_block(void* block, std::size_t size) noexcept {
  if (!blocks_are_pooled || size > BlockClass::large_limit) return ::operator delete(block);
  free_class(block, BlockClass::of(size));
}

/// The same where only `BlockClass::of_any(size)` is known.
inline void free_block_of(void* block, std::size_t index) noexcept {
  if (!blocks_are_pooled || index == BlockClass::count) [[unlikely]]
    return ::operator delete(block);
  free_class(block, index);
}

/// For a thread that is about to sleep, maybe for long: lets others and the system have what it
/// does not need. Works in pieces of less than a millisecond and at most 2% of the time; when
/// nothing is left to do, it looks again after a second.
ROUSE_API void tidy_blocks() noexcept;

/// Bytes the pool has from the system, in use or not.
[[nodiscard]] ROUSE_API std::size_t block_pool_bytes() noexcept;

}  // namespace rouse::internal
