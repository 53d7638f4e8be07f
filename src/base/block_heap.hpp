// What the block pool (base/internal/block_pool.hpp) is made of: blocks, the chunks they are cut
// from, and the heap of a thread, which owns chunks.
//
//  - Every block lies in one chunk, every chunk belongs to one heap or lies whole in the depot
//    (base/block_depot.hpp). A chunk changes hands only while all of it is free: no thread has a
//    block of it then, so nobody else reads its owner.
//  - A free block is in a list of its heap, which only the heap's thread touches, or in one of the
//    heap's shared lists, which any thread may take, but only whole, or was sorted: then it is in
//    the list of its chunk (base/block_depot.hpp).
//  - Of what a thread frees it keeps about 2 MB for itself, the rest it moves to its shared lists.
//    It does not count for that: of its chunks every 32nd is watched, which means that the quick
//    way to free does not find it to be the thread's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/block_pool.hpp"

namespace rouse::internal::blocks {

inline constexpr std::size_t class_count = BlockClass::count;
inline constexpr std::size_t chunk_bytes = 64 * 1024;  // and their alignment
inline constexpr std::size_t cache_line = 64;

/// How many blocks of a class are cut at once.
constexpr std::uint32_t batch_of(std::size_t index) {
  const std::size_t fit = 2 * 1024 / BlockClass::bytes(index);
  return static_cast<std::uint32_t>(fit < 1 ? 1 : fit > 16 ? 16 : fit);
}
/// How many blocks of other threads a thread keeps before it gives them back.
inline constexpr std::uint32_t max_away = 16;
/// Of so many chunks that a heap gets one is watched.
inline constexpr std::uint32_t watch_interval = 32;

struct Block {
  Block* next;
  std::size_t index;  // its class; only on the way back to its heap, and when sorted
};
static_assert(sizeof(Block) <= BlockClass::granule);

struct Heap;

/// Where a chunk begins; blocks follow.
struct alignas(cache_line) Chunk {
  Heap* quick_owner = nullptr;  // the owner, or null if the chunk is watched
  Heap* owner = nullptr;
  Chunk* next = nullptr;  // while it is whole and nobody's, or has sorted blocks
  Chunk* previous = nullptr;
  Block* sorted = nullptr;         // free blocks of it
  std::uint32_t sorted_bytes = 0;  // that these have

  static Chunk& of(const void* block) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    return *reinterpret_cast<Chunk*>(address & ~(chunk_bytes - 1));
  }
  char* begin() noexcept { return reinterpret_cast<char*>(this + 1); }
  char* end() noexcept { return reinterpret_cast<char*>(this) + chunk_bytes; }
};
/// What the blocks of a chunk have together, once it is used up.
inline constexpr std::size_t chunk_room = chunk_bytes - sizeof(Chunk);
static_assert(chunk_room % BlockClass::granule == 0, "a chunk is cut up without a rest");

/// Free blocks of a heap: any thread adds some, any thread takes all. No block is ever taken alone,
/// so it does not matter that one which is added may have been here before.
class SharedBlocks {
 public:
  constexpr SharedBlocks() noexcept = default;

  /// Adds blocks linked from `first` to `last`.
  void add(Block* first, Block* last) noexcept {
    Block* top = top_.load(memory_order_relaxed);
    do {
      last->next = top;
      // ORDER: release; publishes the blocks, and all that was done with them. (Those below were
      // published by others: an exchange continues what they released.)
    } while (!top_.compare_exchange_weak(top, first, memory_order_release, memory_order_relaxed));
  }
  /// Adds blocks linked from `first` on, if none are here.
  bool add_if_empty(Block* first) noexcept {
    Block* none = nullptr;
    // ORDER: release; as above.
    return top_.compare_exchange_strong(none, first, memory_order_release, memory_order_relaxed);
  }
  /// Null if none are here.
  [[nodiscard]] Block* take_all() noexcept {
    if (top_.load(memory_order_relaxed) == nullptr) return nullptr;
    // ORDER: acquire; as above.
    return top_.exchange(nullptr, memory_order_acquire);
  }
  /// Puts the last of those that were taken back.
  void put_back(Block* rest) noexcept {
    while (!add_if_empty(rest)) {
      Block* const newer = take_all();
      if (newer == nullptr) continue;
      Block* last = newer;
      while (last->next != nullptr) last = last->next;
      last->next = std::exchange(rest, newer);
    }
  }

 private:
  atomic<Block*> top_{nullptr};
};

/// How many blocks of a class are sorted. Changed by the one that sorts.
class SortedCount {
 public:
  constexpr SortedCount() noexcept = default;
  [[nodiscard]] bool is_zero() const noexcept { return count_.load(memory_order_relaxed) == 0; }
  void add(std::uint32_t more) noexcept {
    count_.store(count_.load(memory_order_relaxed) + more, memory_order_relaxed);
  }

 private:
  atomic<std::uint32_t> count_{0};
};

/// What a thread owns: free blocks of its own chunks, and a chunk that is not cut up yet. A heap
/// outlives its thread and goes to a later one, with all that others still have of it.
struct Heap {
  Block* free[class_count] = {};
  char* fresh = nullptr;  // unused rest of the current chunk
  char* fresh_end = nullptr;

  // Blocks of one other heap, to be given back together.
  Heap* away_owner = nullptr;
  Block* away_first = nullptr;
  Block* away_last = nullptr;
  std::uint32_t away_count = 0;

  std::uint32_t adopted = 0;        // chunks it was given
  std::uint32_t watched_bytes = 0;  // that its thread has freed in watched chunks
  std::uint64_t next_tidy = 0;      // when its thread looks for whole chunks again
  // The depot's.
  Heap* next_unused = nullptr;       // while it has no thread
  Heap* next_heap = nullptr;         // of all heaps
  std::size_t sort_when_chunks = 0;  // have been asked for, to find whole chunks
  Chunk* sorted_chunks = nullptr;    // those with sorted blocks
  SortedCount sorted[class_count];

  SharedBlocks spare[class_count];            // what its thread has too many of, by class
  alignas(cache_line) SharedBlocks returned;  // what other threads freed, of all classes

  void push(Block* block, std::size_t index) noexcept {
    block->next = free[index];
    free[index] = block;
  }
  Block* pop(std::size_t index) noexcept {
    Block* block = free[index];
    free[index] = block->next;
    return block;
  }
  std::size_t fresh_bytes() const noexcept { return static_cast<std::size_t>(fresh_end - fresh); }

  void collect_returned() noexcept {
    for (Block* block = returned.take_all(); block != nullptr;) {
      Block* next = block->next;
      push(block, block->index);
      block = next;
    }
  }

  void keep_away(Block* block, std::size_t index, Heap* owner) noexcept {
    if (owner != away_owner || away_count == max_away) flush_away();
    away_owner = owner;
    block->index = index;
    block->next = away_first;
    if (away_first == nullptr) away_last = block;
    away_first = block;
    ++away_count;
  }
  void flush_away() noexcept {
    if (away_first != nullptr) away_owner->returned.add(away_first, away_last);
    away_first = away_last = nullptr;
    away_count = 0;
  }

  /// Its thread freed a block in a watched chunk. That stands for 32 times as many bytes.
  void count_watched(std::size_t index) noexcept {
    watched_bytes += static_cast<std::uint32_t>(BlockClass::bytes(index));
    if (watched_bytes < chunk_bytes / 4) return;
    watched_bytes = 0;
    for (std::size_t i = 0; i < class_count; ++i) share(i);
  }
  void share(std::size_t index) noexcept {
    Block* const first = std::exchange(free[index], nullptr);
    if (first == nullptr || spare[index].add_if_empty(first)) return;
    Block* last = first;
    while (last->next != nullptr) last = last->next;
    spare[index].add(first, last);
  }

  void adopt(Chunk& chunk) noexcept {
    chunk.owner = this;
    chunk.quick_owner = ++adopted % watch_interval == 0 ? nullptr : this;
    fresh = chunk.begin();
    fresh_end = chunk.end();
  }
  /// Cuts what is left of the chunk into blocks.
  void use_up_chunk() noexcept {
    while (fresh_bytes() >= BlockClass::granule) {
      const std::size_t bytes =
          fresh_bytes() < BlockClass::small_limit ? fresh_bytes() : BlockClass::small_limit;
      push(reinterpret_cast<Block*>(fresh), BlockClass::of(bytes));
      fresh += bytes;
    }
  }
  /// The chunk has room for the class.
  Block* cut(std::size_t index) noexcept {
    const std::size_t bytes = BlockClass::bytes(index);
    for (std::uint32_t i = 1; i < batch_of(index) && fresh_bytes() >= 2 * bytes; ++i) {
      push(reinterpret_cast<Block*>(fresh), index);
      fresh += bytes;
    }
    return reinterpret_cast<Block*>(std::exchange(fresh, fresh + bytes));
  }
};

}  // namespace rouse::internal::blocks
