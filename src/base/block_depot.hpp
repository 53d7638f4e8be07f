// What the heaps of the block pool share: the depot. Whole chunks move through it from heap to
// heap, and from it back to the system.
//
// Threads count nothing when they allocate or free, so nobody knows which chunks are whole until
// somebody sorts free blocks: each goes to the list of its chunk, and stays there until its heap
// needs it or the chunk is whole. That happens
//  - when a heap needs a chunk and the depot has none: the free blocks of that heap, then the
//    shared ones of the others are sorted before the system is asked;
//  - when a thread is about to sleep: all of these, and what the depot has too much goes back to
//    the system;
//  - when it ends: the same, to the end.
// A sort takes time in proportion to the blocks, so each of the first two sorts a few thousand at
// most, and the next goes on from there. Of a heap where it found too little for that, blocks are
// sorted again only after the system was asked for chunks that took as long. A thread that sleeps
// sorts again after fifty times as long if there are more, or else after a second.
//
// The depot keeps 4 MB, or a quarter of what is in use if that is more. A program whose need varies
// by less than that, or faster than once a second, does not call the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/thread.hpp"

#include "base/block_heap.hpp"

namespace rouse::internal::blocks {

/// Whole chunks.
struct Chunks {
  Chunk* first = nullptr;
  std::size_t count = 0;

  void add(Chunk& chunk) noexcept {
    chunk.next = std::exchange(first, &chunk);
    ++count;
  }
  void add_all(Chunks others) noexcept {
    while (others.count != 0) add(others.take());
  }
  Chunk& take() noexcept {
    --count;
    return *std::exchange(first, first->next);
  }
};

class Sorting;

class Depot {
 public:
  constexpr Depot() noexcept = default;

  /// A heap that has no thread, or a new one. Null if there is no memory for one.
  Heap* take_heap() noexcept;
  void put_heap(Heap& heap) noexcept;

  /// Gives the heap, which has used up its chunk, another one. Throws std::bad_alloc.
  void add_chunk(Heap& heap);

  /// Gives the heap sorted blocks of its own back, until it has one of the class.
  void take_sorted(Heap& heap, std::size_t index) noexcept;

  /// The heap's thread is about to sleep, or ends.
  void tidy_before_sleep(Heap& heap) noexcept;
  void tidy_at_end(Heap& heap) noexcept;

  /// What all chunks take together.
  std::size_t bytes() const noexcept { return chunks_.load(memory_order_relaxed) * chunk_bytes; }

  /// Around fork(): the child finds no lock held and nothing half done.
  void before_fork() noexcept;
  void after_fork() noexcept;

 private:
  Chunk* take_chunk() noexcept;
  /// One that nobody has used. Throws std::bad_alloc.
  Chunk* make_chunk();
  void put_chunks(Chunks found) noexcept;
  /// False: there is more than this.
  bool give_surplus_back(std::size_t at_most) noexcept;
  bool tidy_to_grow(Heap& own) noexcept;
  /// Sorts what the heap's thread has, and what all share. `sorting_` is held.
  void sort_all(Heap& own, Sorting& sorting) noexcept;
  Heap* first_heap() noexcept;
  std::size_t made_chunks() const noexcept { return made_chunks_.load(memory_order_relaxed); }
  bool is_small() const noexcept { return bytes() <= kept_bytes; }

  static constexpr std::size_t kept_bytes = 4 * 1024 * 1024;
  /// The system is asked for so much at a time: chunks lie side by side, where an allocator would
  /// need a page or two before each for the alignment.
  static constexpr std::size_t span_bytes = 16 * chunk_bytes;

  /// Guards what is sorted, of all heaps. Taken before `mutex_`.
  Mutex sorting_;

  Mutex mutex_;  // guards what follows
  Heap* heaps_ = nullptr;
  Heap* unused_heaps_ = nullptr;
  Chunks whole_;
  char* unused_ = nullptr;  // the chunks of the last span that were not used yet
  std::size_t unused_bytes_ = 0;

  atomic<std::size_t> chunks_{0};       // in use and whole
  atomic<std::size_t> made_chunks_{0};  // those that were given back, too
};

}  // namespace rouse::internal::blocks
