#include "base/block_depot.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "sys/clock.hpp"
#include "sys/memory.hpp"

namespace rouse::internal::blocks {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
/// How many blocks a growing heap sorts per chunk that it finds, or requests from the system.
constexpr std::size_t blocks_for_a_chunk = 2'048;
/// Limits per step, so that one takes less than a millisecond: blocks sorted, chunks searched for
/// sorted blocks, chunks given back.
constexpr std::size_t blocks_at_once = 4'096;
constexpr std::size_t chunks_at_once = 64;
constexpr std::size_t given_back_at_once = 16;
constexpr std::size_t all = SIZE_MAX;
/// The pause before the next sort, as a multiple of the time that the last one took.
constexpr std::uint64_t pause_factor = 50;

void link(Heap& heap, Chunk& chunk) noexcept {
  chunk.previous = nullptr;
  chunk.next = std::exchange(heap.sorted_chunks, &chunk);
  if (chunk.next != nullptr) chunk.next->previous = &chunk;
}
void unlink(Heap& heap, Chunk& chunk) noexcept {
  (chunk.previous != nullptr ? chunk.previous->next : heap.sorted_chunks) = chunk.next;
  if (chunk.next != nullptr) chunk.next->previous = chunk.previous;
}
/// Its blocks are sorted no longer.
Block* take_blocks(Heap& heap, Chunk& chunk) noexcept {
  unlink(heap, chunk);
  chunk.sorted_bytes = 0;
  for (Block* block = chunk.sorted; block != nullptr; block = block->next) {
    heap.sorted[block->index].add(static_cast<std::uint32_t>(-1));
  }
  return std::exchange(chunk.sorted, nullptr);
}

}  // namespace

/// Moves free blocks to the list of their chunk, up to a limit. `Depot::sorting_` is held.
class Sorting {
 public:
  explicit Sorting(std::size_t at_most) noexcept : left_(at_most) {}

  void add_shared(Heap& heap) noexcept {
    add_some(heap, heap.returned, [](Block* block) { return block->index; });
    for (std::size_t index = 0; index < class_count; ++index) {
      add_some(heap, heap.spare[index], [=](Block*) { return index; });
    }
  }
  /// The heap's thread is this one.
  void add_free(Heap& heap) noexcept {
    for (std::size_t index = 0; index < class_count; ++index) {
      while (left_ != 0 && heap.free[index] != nullptr) add(heap, heap.pop(index), index);
    }
  }
  /// How many blocks it may still look at.
  [[nodiscard]] std::size_t left() const noexcept { return left_; }
  /// The chunks that are whole now.
  [[nodiscard]] Chunks found() const noexcept { return found_; }

 private:
  void add(Heap& heap, Block* block, std::size_t index) noexcept {
    --left_;
    Chunk& chunk = Chunk::of(block);
    if (chunk.sorted == nullptr) link(heap, chunk);
    block->index = index;
    block->next = std::exchange(chunk.sorted, block);
    heap.sorted[index].add(1);
    chunk.sorted_bytes += static_cast<std::uint32_t>(BlockClass::bytes(index));
    if (chunk.sorted_bytes != chunk_room) return;
    for (Block* each = take_blocks(heap, chunk); each != nullptr && left_ != 0; each = each->next) {
      --left_;  // that took time, too
    }
    found_.add(chunk);
  }
  template <class IndexOf>
  void add_some(Heap& heap, SharedBlocks& from, IndexOf index_of) noexcept {
    if (left_ == 0) return;
    Block* block = from.take_all();
    while (left_ != 0 && block != nullptr) {
      Block* next = block->next;
      add(heap, block, index_of(block));
      block = next;
    }
    if (block != nullptr) from.put_back(block);
  }

  std::size_t left_;
  Chunks found_;
};

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
  if (chunk == nullptr) chunk = make_chunk();
  heap.adopt(*chunk);
}

Chunk* Depot::take_chunk() noexcept {
  const Lock lock(mutex_);
  return whole_.count == 0 ? nullptr : &whole_.take();
}

Chunk* Depot::make_chunk() {
  const Lock lock(mutex_);
  if (unused_bytes_ == 0) {
    void* const span = sys::map_pages(span_bytes, chunk_bytes);
    if (span == nullptr) throw std::bad_alloc();
    unused_ = static_cast<char*>(span);
    unused_bytes_ = span_bytes;
  }
  auto* const chunk = new (unused_) Chunk;
  unused_ += chunk_bytes;
  unused_bytes_ -= chunk_bytes;
  chunks_.fetch_add(1, memory_order_relaxed);
  made_chunks_.fetch_add(1, memory_order_relaxed);
  return chunk;
}

void Depot::put_chunks(Chunks found) noexcept {
  if (found.count == 0) return;
  const Lock lock(mutex_);
  whole_.add_all(found);
}

bool Depot::give_surplus_back(std::size_t at_most) noexcept {
  Chunks surplus;
  bool is_all = false;
  {
    const Lock lock(mutex_);
    const std::size_t in_use = chunks_.load(memory_order_relaxed) - whole_.count;
    const std::size_t kept = std::max(kept_bytes / chunk_bytes, in_use / 4);
    while (whole_.count > kept && surplus.count < at_most) surplus.add(whole_.take());
    is_all = whole_.count <= kept;
    // Under the lock: what is counted is in use or whole.
    chunks_.fetch_sub(surplus.count, memory_order_relaxed);
  }
  Chunks refused;
  while (surplus.count != 0) {
    Chunk& chunk = surplus.take();
    if (sys::unmap_pages(&chunk, chunk_bytes)) continue;
    sys::drop_pages(&chunk, chunk_bytes);
    refused.add(*new (&chunk) Chunk);
  }
  if (refused.count == 0) return is_all;
  const Lock lock(mutex_);
  chunks_.fetch_add(refused.count, memory_order_relaxed);
  whole_.add_all(refused);
  return true;  // not again at once: it would be refused again
}

// --- Sorting blocks. ---

void Depot::take_sorted(Heap& heap, std::size_t index) noexcept {
  if (!sorting_.try_lock()) return;
  for (std::size_t i = 0; i < chunks_at_once && heap.free[index] == nullptr; ++i) {
    if (heap.sorted[index].is_zero()) break;
    for (Block* block = take_blocks(heap, *heap.sorted_chunks); block != nullptr;) {
      Block* next = block->next;
      heap.push(block, block->index);
      block = next;
    }
  }
  sorting_.unlock();
}

bool Depot::tidy_to_grow(Heap& own) noexcept {
  if (is_small() || !sorting_.try_lock()) return false;
  own.flush_away();
  Sorting sorting(blocks_at_once);
  const auto sort = [&](Heap& heap) {
    if (made_chunks() < heap.sort_when_chunks) return;
    const std::size_t before = sorting.left();
    sorting.add_shared(heap);
    if (&heap == &own) sorting.add_free(heap);
    const std::size_t blocks = before - sorting.left();
    const bool was_worthwhile = sorting.found().count * blocks_for_a_chunk >= blocks;
    heap.sort_when_chunks = made_chunks() + (was_worthwhile ? 0 : blocks / blocks_for_a_chunk);
  };
  sort(own);
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next_heap) {
    if (sorting.found().count != 0) break;
    if (heap != &own) sort(*heap);
  }
  sorting_.unlock();
  put_chunks(sorting.found());
  return sorting.found().count != 0;
}

void Depot::sort_all(Heap& own, Sorting& sorting) noexcept {
  own.flush_away();
  sorting.add_shared(own);
  for (Heap* heap = first_heap(); heap != nullptr && !is_small(); heap = heap->next_heap) {
    sorting.add_shared(*heap);
  }
  // Last: these are what the thread would use next.
  sorting.add_free(own);
}

void Depot::tidy_before_sleep(Heap& heap) noexcept {
  if (is_small()) return;
  const std::uint64_t begin = sys::monotonic_ns();
  if (begin < heap.next_tidy || !sorting_.try_lock()) return;
  Sorting sorting(blocks_at_once);
  sort_all(heap, sorting);
  sorting_.unlock();
  put_chunks(sorting.found());
  const bool is_done = give_surplus_back(given_back_at_once) && sorting.left() != 0;
  const std::uint64_t end = sys::monotonic_ns();
  heap.next_tidy = end + (is_done ? second : (end - begin) * pause_factor);
}

void Depot::tidy_at_end(Heap& heap) noexcept {
  heap.use_up_chunk();
  sorting_.lock();
  Sorting sorting(all);
  sort_all(heap, sorting);
  sorting_.unlock();
  put_chunks(sorting.found());
  give_surplus_back(all);
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

}  // namespace rouse::internal::blocks
