#include "base/block_depot.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "sys/clock.hpp"
#include "sys/memory.hpp"

namespace rouse::blocks {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
/// To sort so many blocks takes about as long as to get a chunk from the system.
constexpr std::size_t blocks_for_a_chunk = 1'024;
/// Twenty times as long as it takes to sort a block, in nanoseconds.
constexpr std::uint64_t pause_for_a_block = 1'000;

/// Sorts free blocks by chunk. It counts in the chunks, so one at a time: `Depot::sorting_`.
class Sorting {
 public:
  void add(Block* block, std::size_t index) noexcept {
    block->index = index;
    block->next = std::exchange(blocks_, block);
    Chunk::of(block).counted += static_cast<std::uint32_t>(BlockClass::bytes(index));
    ++count_;
  }
  void add_shared(Heap& heap) noexcept {
    for (Block* block = heap.returned.take_all(); block != nullptr;) {
      Block* next = block->next;
      add(block, block->index);
      block = next;
    }
    for (std::size_t index = 0; index < class_count; ++index) {
      for (Block* block = heap.spare[index].take_all(); block != nullptr;) {
        Block* next = block->next;
        add(block, index);
        block = next;
      }
    }
  }
  void add_free(Heap& heap) noexcept {
    for (std::size_t index = 0; index < class_count; ++index) {
      while (heap.free[index] != nullptr) add(heap.pop(index), index);
    }
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Adds the chunks whose blocks are all here to `found`, and gives the other blocks to `keep`.
  template <class Keep>
  void finish(Chunks& found, Keep keep) noexcept {
    while (Block* block = blocks_) {
      blocks_ = block->next;
      Chunk& chunk = Chunk::of(block);
      if (chunk.counted != chunk_room) {
        chunk.counted = 0;
        keep(block);
        continue;
      }
      chunk.set_aside += static_cast<std::uint32_t>(BlockClass::bytes(block->index));
      if (chunk.set_aside != chunk_room) continue;
      chunk.counted = chunk.set_aside = 0;
      found.add(chunk);
    }
  }

 private:
  Block* blocks_ = nullptr;
  std::size_t count_ = 0;
};

/// Blocks to be returned together.
struct Returning {
  Block* first = nullptr;
  Block* last = nullptr;

  void add(Block* block) noexcept {
    if (first == nullptr) last = block;
    block->next = std::exchange(first, block);
  }
  void return_to(Heap& heap) const noexcept {
    if (first != nullptr) heap.returned.add(first, last);
  }
};

/// Sorts what is free of a heap whose thread is this one. Gives the number of blocks.
std::size_t sort_own(Heap& heap, Chunks& found) noexcept {
  Sorting sorting;
  sorting.add_free(heap);
  sorting.add_shared(heap);
  sorting.finish(found, [&](Block* block) { heap.push(block, block->index); });
  return sorting.count();
}

/// The same for any heap, and what it shares.
std::size_t sort_shared(Heap& heap, Chunks& found) noexcept {
  Sorting sorting;
  sorting.add_shared(heap);
  Returning rest;
  sorting.finish(found, [&](Block* block) { rest.add(block); });
  rest.return_to(heap);
  return sorting.count();
}

}  // namespace

// --- Heaps. ---

Heap* Depot::take_heap() noexcept {
  {
    const Lock lock(mutex_);
    if (Heap* heap = unused_heaps_) {
      unused_heaps_ = heap->next_unused;
      return heap;
    }
  }
  auto* heap = new (std::nothrow) Heap;
  if (heap == nullptr) return nullptr;
  const Lock lock(mutex_);
  heap->next_heap = std::exchange(heaps_, heap);
  return heap;
}

void Depot::put_heap(Heap& heap) noexcept {
  const Lock lock(mutex_);
  heap.next_unused = std::exchange(unused_heaps_, &heap);
}

/// All heaps, linked: those that come later stand before it.
Heap* Depot::first_heap() noexcept {
  const Lock lock(mutex_);
  return heaps_;
}

// --- Chunks. ---

void Depot::add_chunk(Heap& heap) {
  Chunk* chunk = take_chunk();
  if (chunk == nullptr && tidy_to_grow(heap)) chunk = take_chunk();
  if (chunk == nullptr) {
    chunk = new (::operator new(chunk_bytes, std::align_val_t{chunk_bytes})) Chunk;
    chunks_.fetch_add(1, memory_order_relaxed);
    made_chunks_.fetch_add(1, memory_order_relaxed);
  }
  heap.adopt(*chunk);
}

Chunk* Depot::take_chunk() noexcept {
  const Lock lock(mutex_);
  return whole_.count == 0 ? nullptr : &whole_.take();
}

void Depot::put_chunks(Chunks found) noexcept {
  if (found.count == 0) return;
  const Lock lock(mutex_);
  whole_.add_all(found);
}

void Depot::give_surplus_back() noexcept {
  Chunks surplus;
  {
    const Lock lock(mutex_);
    const std::size_t in_use = chunks_.load(memory_order_relaxed) - whole_.count;
    const std::size_t kept = std::max(kept_bytes / chunk_bytes, in_use / 4);
    while (whole_.count > kept) surplus.add(whole_.take());
    // Under the lock: what is counted is in use or whole.
    chunks_.fetch_sub(surplus.count, memory_order_relaxed);
  }
  while (surplus.count != 0) {
    Chunk* chunk = &surplus.take();
    // An allocator that keeps the address has the pages no longer.
    sys::drop_pages(chunk, chunk_bytes);
    ::operator delete(chunk, std::align_val_t{chunk_bytes});
  }
}

// --- Looking for whole chunks. ---

Chunks Depot::sort(Heap& heap, bool is_own) noexcept {
  Chunks found;
  const std::size_t blocks = is_own ? sort_own(heap, found) : sort_shared(heap, found);
  const bool was_worthwhile = found.count * blocks_for_a_chunk >= blocks;
  heap.sort_when_chunks = made_chunks() + (was_worthwhile ? 0 : blocks / blocks_for_a_chunk);
  heap.sort_when_time = sys::monotonic_ns() + (was_worthwhile ? 0 : blocks * pause_for_a_block);
  return found;
}

bool Depot::tidy_to_grow(Heap& own) noexcept {
  if (is_small() || !sorting_.try_lock()) return false;
  own.flush_away();
  Chunks found;
  if (made_chunks() >= own.sort_when_chunks) found = sort(own, true);
  for (Heap* heap = first_heap(); heap != nullptr && found.count == 0; heap = heap->next_heap) {
    if (heap != &own && made_chunks() >= heap->sort_when_chunks) found = sort(*heap, false);
  }
  sorting_.unlock();
  put_chunks(found);
  return found.count != 0;
}

/// `sorting_` is held.
Chunks Depot::sort_all(Heap& own) noexcept {
  own.flush_away();
  Chunks found = sort(own, true);
  const std::uint64_t now = sys::monotonic_ns();
  own.next_tidy = std::max(own.sort_when_time, now + second);
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next_heap) {
    if (heap != &own && now >= heap->sort_when_time) found.add_all(sort(*heap, false));
  }
  return found;
}

void Depot::tidy_before_sleep(Heap& heap) noexcept {
  if (is_small() || sys::monotonic_ns() < heap.next_tidy || !sorting_.try_lock()) return;
  const Chunks found = sort_all(heap);
  sorting_.unlock();
  put_chunks(found);
  give_surplus_back();
}

void Depot::tidy_at_end(Heap& heap) noexcept {
  heap.use_up_chunk();
  sorting_.lock();
  const Chunks found = sort_all(heap);
  sorting_.unlock();
  // Until it has another thread, others find all its free blocks among the shared.
  for (std::size_t index = 0; index < class_count; ++index) heap.share(index);
  put_chunks(found);
  give_surplus_back();
}

// --- Fork. ---

void Depot::before_fork() noexcept {
  sorting_.lock();
  mutex_.lock();
}
void Depot::after_fork() noexcept {
  mutex_.unlock();
  sorting_.unlock();
}

}  // namespace rouse::blocks
