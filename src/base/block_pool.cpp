#include "rouse/base/block_pool.hpp"

#include <cstdint>
#include <new>
#include <utility>

#include "rouse/base/thread.hpp"

namespace rouse {
namespace {

constexpr std::size_t class_count = BlockClass::count;
constexpr std::size_t chunk_bytes = 64 * 1024;  // and their alignment
constexpr std::size_t cache_line = 64;

static_assert(BlockClass::of(1) == 0 && BlockClass::of(16) == 0 && BlockClass::of(17) == 1);
static_assert(BlockClass::of(BlockClass::large_limit) == class_count - 1);
static_assert([] {
  for (std::size_t i = 0; i < class_count; ++i) {
    if (BlockClass::of(BlockClass::bytes(i)) != i) return false;
    if (i + 1 < class_count && BlockClass::of(BlockClass::bytes(i) + 1) != i + 1) return false;
  }
  return true;
}());

/// How many blocks of a class are cut at once.
constexpr std::uint32_t batch_of(std::size_t index) {
  const std::size_t fit = 2 * 1024 / BlockClass::bytes(index);
  return static_cast<std::uint32_t>(fit < 1 ? 1 : fit > 16 ? 16 : fit);
}
/// How many blocks of other threads a thread keeps before it gives them back.
constexpr std::uint32_t max_away = 16;

struct Block {
  Block* next;
  std::size_t index;  // its class; only on the way back to its heap
};
static_assert(sizeof(Block) <= BlockClass::granule);

struct Heap;

/// Where a chunk begins; blocks follow.
struct alignas(cache_line) Chunk {
  Heap* owner;

  static const Chunk& of(const void* block) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    return *reinterpret_cast<const Chunk*>(address & ~(chunk_bytes - 1));
  }
};

/// What a thread owns: free blocks of its own chunks, and chunks that are not cut yet. A heap
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

  Heap* next_unused = nullptr;                           // while it has no thread
  alignas(cache_line) atomic<Block*> returned{nullptr};  // what others give back

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

  /// Any thread: gives blocks, linked from `first` to `last`, back to this heap.
  void give_back(Block* first, Block* last) noexcept {
    Block* top = returned.load(memory_order_relaxed);
    do {
      last->next = top;
      // ORDER: release; publishes the blocks, and all that was done with them.
    } while (
        !returned.compare_exchange_weak(top, first, memory_order_release, memory_order_relaxed));
  }
  void collect_returned() noexcept {
    if (returned.load(memory_order_relaxed) == nullptr) return;
    // ORDER: acquire; as above.
    Block* block = returned.exchange(nullptr, memory_order_acquire);
    while (block != nullptr) {
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
    if (away_first != nullptr) away_owner->give_back(away_first, away_last);
    away_first = away_last = nullptr;
    away_count = 0;
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
  /// The chunk is used up and has room for the class.
  Block* cut(std::size_t index) noexcept {
    const std::size_t bytes = BlockClass::bytes(index);
    for (std::uint32_t i = 1; i < batch_of(index) && fresh_bytes() >= 2 * bytes; ++i) {
      push(reinterpret_cast<Block*>(fresh), index);
      fresh += bytes;
    }
    return reinterpret_cast<Block*>(std::exchange(fresh, fresh + bytes));
  }
};

/// What threads share: the heaps that have no thread, and the count of chunks.
class Store {
 public:
  /// Null if there is no memory for one.
  Heap* take_heap() noexcept {
    {
      const Lock lock(mutex_);
      if (Heap* heap = unused_) {
        unused_ = heap->next_unused;
        return heap;
      }
    }
    return new (std::nothrow) Heap;
  }
  void put_heap(Heap* heap) noexcept {
    const Lock lock(mutex_);
    heap->next_unused = unused_;
    unused_ = heap;
  }
  /// A chunk for this heap: never given back to the system.
  void add_chunk(Heap& heap) {
    void* memory = ::operator new(chunk_bytes, std::align_val_t{chunk_bytes});
    const auto* chunk = new (memory) Chunk{&heap};
    heap.fresh = static_cast<char*>(memory) + sizeof(*chunk);
    heap.fresh_end = static_cast<char*>(memory) + chunk_bytes;
    chunks_.fetch_add(1, memory_order_relaxed);
  }
  std::size_t bytes() const noexcept { return chunks_.load(memory_order_relaxed) * chunk_bytes; }

 private:
  Mutex mutex_;
  Heap* unused_ = nullptr;
  atomic<std::size_t> chunks_{0};
};

/// Never destroyed: blocks are freed until the very end of the process.
Store& store() {
  alignas(Store) static char memory[sizeof(Store)];
  static Store* const instance = new (memory) Store;
  return *instance;
}

/// Stands for the heap of a thread that has none: it is empty and owns no chunk, so every use of
/// it ends in a slow path.
constinit Heap no_heap;
constinit thread_local Heap* own_heap = &no_heap;
constinit thread_local bool thread_has_ended = false;

/// Gives a thread its heap, and hands it on when the thread ends.
struct HeapSession {
  HeapSession() noexcept : heap(store().take_heap()) {
    if (heap != nullptr) own_heap = heap;
  }
  ~HeapSession() {
    thread_has_ended = true;
    if (heap == nullptr) return;
    own_heap = &no_heap;
    heap->flush_away();
    store().put_heap(heap);
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
  heap.collect_returned();
  if (heap.free[index] != nullptr) return heap.pop(index);
  if (heap.fresh_bytes() < BlockClass::bytes(index)) {
    heap.use_up_chunk();
    store().add_chunk(heap);
  }
  return heap.cut(index);
}

[[gnu::noinline]] void* allocate_slow(std::size_t index) {
  if (has_heap()) return allocate_from(*own_heap, index);
  Heap* borrowed = store().take_heap();
  if (borrowed == nullptr) throw std::bad_alloc();
  try {
    void* block = allocate_from(*borrowed, index);
    store().put_heap(borrowed);
    return block;
  } catch (...) {
    store().put_heap(borrowed);
    throw;
  }
}

[[gnu::noinline]] void free_foreign(Block* block, std::size_t index, Heap* owner) noexcept {
  if (has_heap()) {
    // The heap that this thread was given just now may be the owner.
    if (owner == own_heap) return own_heap->push(block, index);
    return own_heap->keep_away(block, index, owner);
  }
  block->index = index;
  owner->give_back(block, block);
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
  Heap* owner = Chunk::of(memory).owner;
  if (owner != own_heap) [[unlikely]]
    return free_foreign(block, index, owner);
  owner->push(block, index);
}

std::size_t block_pool_bytes() noexcept { return store().bytes(); }

}  // namespace rouse
