#include "rouse/base/internal/block_pool.hpp"

#include <new>
#include <type_traits>

#include "base/block_depot.hpp"
#include "base/block_heap.hpp"
#include "sys/process_fork.hpp"

namespace rouse::internal {
namespace {

using blocks::Block;
using blocks::Chunk;
using blocks::class_count;
using blocks::Depot;
using blocks::Heap;

static_assert(BlockClass::of(1) == 0 && BlockClass::of(16) == 0 && BlockClass::of(17) == 1);
static_assert(BlockClass::of(BlockClass::large_limit) == class_count - 1);
static_assert([] {
  for (std::size_t i = 0; i < class_count; ++i) {
    if (BlockClass::of(BlockClass::bytes(i)) != i) return false;
    if (i + 1 < class_count && BlockClass::of(BlockClass::bytes(i) + 1) != i + 1) return false;
  }
  return true;
}());

/// Never destroyed: blocks are freed until the very end of the process.
constinit Depot depot;
static_assert(model_checker || std::is_trivially_destructible_v<Depot>);

/// When the library is loaded: mostly before there are other threads.
[[maybe_unused]] const bool forks_are_watched = sys::at_process_fork(
    [] { depot.before_fork(); }, [] { depot.after_fork(); }, [] { depot.after_fork(); });

/// Stands for the heap of a thread that has none: it is empty and owns no chunk, so every use of
/// it ends in a slow path.
constinit Heap no_heap;
constinit thread_local Heap* own_heap = &no_heap;
constinit thread_local bool thread_has_ended = false;

/// Gives a thread its heap, and hands it on when the thread ends.
struct HeapSession {
  HeapSession() noexcept : heap(depot.take_heap()) {
    if (heap != nullptr) own_heap = heap;
  }
  ~HeapSession() {
    thread_has_ended = true;
    if (heap == nullptr) return;
    own_heap = &no_heap;
    depot.tidy_at_end(*heap);
    depot.put_heap(*heap);
  }
  Heap* heap;
};

/// False once the thread has begun to end: then it has no heap any more. (Or if it got none.)
bool has_heap() noexcept {
  if (own_heap == &no_heap && !thread_has_ended) {
    static thread_local const HeapSession session;
  }
  return own_heap != &no_heap;
}

void* allocate_from(Heap& heap, std::size_t index) {
  if (heap.free[index] == nullptr) heap.free[index] = heap.spare[index].take_all();
  if (heap.free[index] == nullptr) heap.collect_returned();
  if (heap.free[index] == nullptr && !heap.sorted[index].is_zero()) depot.take_sorted(heap, index);
  if (heap.free[index] != nullptr) return heap.pop(index);
  if (heap.fresh_bytes() < BlockClass::bytes(index)) {
    heap.use_up_chunk();
    depot.add_chunk(heap);
  }
  return heap.cut(index);
}

[[gnu::noinline]] void* allocate_slow(std::size_t index) {
  if (has_heap()) return allocate_from(*own_heap, index);
  Heap* borrowed = depot.take_heap();
  if (borrowed == nullptr) throw std::bad_alloc();
  try {
    void* block = allocate_from(*borrowed, index);
    depot.put_heap(*borrowed);
    return block;
  } catch (...) {
    depot.put_heap(*borrowed);
    throw;
  }
}

[[gnu::noinline]] void free_slow(Block* block, std::size_t index) noexcept {
  Heap* const owner = Chunk::of(block).owner;
  if (!has_heap()) {
    block->index = index;
    return owner->returned.add(block, block);
  }
  if (owner != own_heap) return own_heap->keep_away(block, index, owner);
  // The chunk is watched, or the heap was given to this thread just now.
  owner->push(block, index);
  if (Chunk::of(block).quick_owner == nullptr) owner->count_watched(index);
}

}  // namespace

void* allocate_class(std::size_t index) {
  Heap* heap = own_heap;
  if (heap->free[index] == nullptr) [[unlikely]]
    return allocate_slow(index);
  return heap->pop(index);
}

void free_class(void* memory, std::size_t index) noexcept {
  auto* block = static_cast<Block*>(memory);
  Heap* owner = Chunk::of(memory).quick_owner;
  if (owner != own_heap) [[unlikely]]
    return free_slow(block, index);
  owner->push(block, index);
}

void tidy_blocks() noexcept {
  if (own_heap != &no_heap) depot.tidy_before_sleep(*own_heap);
}

std::size_t block_pool_bytes() noexcept { return depot.bytes(); }

}  // namespace rouse::internal
