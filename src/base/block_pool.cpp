#include "rouse/base/block_pool.hpp"

#include <cstdint>
#include <new>
#include <utility>

#include "rouse/base/thread.hpp"

namespace rouse {
namespace {

constexpr std::size_t class_count = BlockClass::count;
constexpr std::size_t chunk_bytes = 64 * 1024;

static_assert(BlockClass::of(1) == 0 && BlockClass::of(16) == 0 && BlockClass::of(17) == 1);
static_assert(BlockClass::of(BlockClass::large_limit) == class_count - 1);
static_assert([] {
  for (std::size_t i = 0; i < class_count; ++i) {
    if (BlockClass::of(BlockClass::bytes(i)) != i) return false;
    if (i + 1 < class_count && BlockClass::of(BlockClass::bytes(i) + 1) != i + 1) return false;
  }
  return true;
}());

/// How many blocks of a class move between a thread and the store at once; a thread keeps at most
/// twice as many.
constexpr std::uint32_t batch_of(std::size_t index) {
  const std::size_t fit = 8 * 1024 / BlockClass::bytes(index);
  return static_cast<std::uint32_t>(fit < 2 ? 2 : fit > 64 ? 64 : fit);
}

struct Block {
  Block* next;
  Block* next_batch;  // in the store only
};
static_assert(sizeof(Block) <= BlockClass::granule);

struct List {
  Block* first = nullptr;
  std::uint32_t count = 0;

  void push(Block* block) {
    block->next = first;
    first = block;
    ++count;
  }
  Block* pop() {
    Block* block = first;
    first = block->next;
    --count;
    return block;
  }
};

/// What threads share. Batches are full (batch_of blocks); blocks that came one by one from ending
/// threads are in `loose`.
class Store {
 public:
  void put_batch(std::size_t index, List batch) {
    Lock lock(mutex_);
    batch.first->next_batch = batches_[index];
    batches_[index] = batch.first;
  }
  void put_loose(std::size_t index, List& blocks) {
    Lock lock(mutex_);
    while (blocks.count) loose_[index].push(blocks.pop());
  }
  /// Empty if there is nothing to reuse.
  List take(std::size_t index) {
    Lock lock(mutex_);
    List taken;
    if (Block* first = batches_[index]) {
      batches_[index] = first->next_batch;
      taken.first = first;
      taken.count = batch_of(index);
    } else {
      while (loose_[index].count && taken.count < batch_of(index)) {
        taken.push(loose_[index].pop());
      }
    }
    return taken;
  }
  /// Memory that an ending thread had not cut into blocks yet.
  void put_fresh(char* memory, std::size_t bytes) {
    if (bytes < sizeof(Fresh)) return;
    Lock lock(mutex_);
    fresh_ = new (memory) Fresh{fresh_, bytes};
  }
  /// Some of that, at least `bytes`; or new memory. `end` is set to where it ends.
  char* take_fresh(std::size_t bytes, char*& end) {
    {
      Lock lock(mutex_);
      for (Fresh** at = &fresh_; *at; at = &(*at)->next) {
        if ((*at)->bytes < bytes) continue;
        Fresh* found = *at;
        *at = found->next;
        char* memory = reinterpret_cast<char*>(found);
        end = memory + found->bytes;
        return memory;
      }
    }
    char* memory = grow(chunk_bytes);
    end = memory + chunk_bytes;
    return memory;
  }
  /// New memory: never given back to the system.
  char* grow(std::size_t bytes) {
    char* memory = static_cast<char*>(::operator new(bytes));
    Lock lock(mutex_);
    bytes_ += bytes;
    return memory;
  }
  std::size_t bytes() {
    Lock lock(mutex_);
    return bytes_;
  }

 private:
  struct Fresh {
    Fresh* next;
    std::size_t bytes;
  };
  static_assert(sizeof(Fresh) <= BlockClass::granule);

  Mutex mutex_;
  Fresh* fresh_ = nullptr;
  Block* batches_[class_count] = {};
  List loose_[class_count] = {};
  std::size_t bytes_ = 0;
};

/// Never destroyed: blocks are freed until the very end of the process.
Store& store() {
  alignas(Store) static char memory[sizeof(Store)];
  static Store* const instance = new (memory) Store;
  return *instance;
}

/// A thread's own blocks of one class, at most `limit` of them.
struct Magazine : List {
  std::uint32_t limit = 0;
};

/// What a thread keeps. Trivially constructed and destroyed, so that access needs no guard; limits
/// of 0 send the first free, and every one after the thread's end began, to the slow path.
struct ThreadCache {
  Magazine magazines[class_count];
  char* fresh = nullptr;  // unused rest of the current chunk
  char* fresh_end = nullptr;
  enum class State : std::uint8_t { unused, open, closed } state = State::unused;

  std::size_t fresh_bytes() const { return static_cast<std::size_t>(fresh_end - fresh); }

  /// Cuts the rest of the chunk into blocks, each given to `put(class, block)`.
  void use_up_chunk(auto put) {
    while (fresh_bytes() >= BlockClass::granule) {
      const std::size_t bytes =
          fresh_bytes() < BlockClass::small_limit ? fresh_bytes() : BlockClass::small_limit;
      put(BlockClass::of(bytes), reinterpret_cast<Block*>(fresh));
      fresh += bytes;
    }
  }
};
constinit thread_local ThreadCache cache;

/// Opens a thread's cache, and hands its blocks on when the thread ends.
struct CacheSession {
  CacheSession() {
    cache.state = ThreadCache::State::open;
    for (std::size_t i = 0; i < class_count; ++i) cache.magazines[i].limit = 2 * batch_of(i);
  }
  ~CacheSession() {
    cache.state = ThreadCache::State::closed;
    for (std::size_t i = 0; i < class_count; ++i) {
      cache.magazines[i].limit = 0;
      store().put_loose(i, cache.magazines[i]);
    }
    store().put_fresh(cache.fresh, cache.fresh_bytes());
    cache.fresh = cache.fresh_end = nullptr;
  }
};

/// False once the thread has begun to end: then nothing may stay in its cache.
bool open_cache() {
  if (cache.state == ThreadCache::State::unused) {
    static thread_local CacheSession session;
  }
  return cache.state == ThreadCache::State::open;
}

[[gnu::noinline]] void* allocate_slow(std::size_t index) {
  const bool open = open_cache();
  List taken = store().take(index);
  if (taken.count) {
    Block* block = taken.pop();
    if (open) {
      static_cast<List&>(cache.magazines[index]) = taken;
    } else {
      store().put_loose(index, taken);
    }
    return block;
  }
  const std::size_t bytes = BlockClass::bytes(index);
  if (!open) return store().grow(bytes);
  if (cache.fresh_bytes() < bytes) {
    cache.use_up_chunk([](std::size_t i, Block* block) { cache.magazines[i].push(block); });
    cache.fresh = store().take_fresh(bytes, cache.fresh_end);
  }
  // Some more than one, so that this slow path is not taken for each block.
  for (std::uint32_t i = 1; i < batch_of(index) / 4 && cache.fresh_bytes() >= 2 * bytes; ++i) {
    cache.magazines[index].push(reinterpret_cast<Block*>(cache.fresh));
    cache.fresh += bytes;
  }
  return std::exchange(cache.fresh, cache.fresh + bytes);
}

[[gnu::noinline]] void free_slow(std::size_t index) {
  Magazine& own = cache.magazines[index];
  if (!open_cache()) return store().put_loose(index, own);
  while (own.count > own.limit) {
    List over;
    while (over.count < batch_of(index)) over.push(own.pop());
    store().put_batch(index, over);
  }
}

}  // namespace

void* allocate_class(std::size_t index) {
  Magazine& own = cache.magazines[index];
  if (own.first == nullptr) [[unlikely]]
    return allocate_slow(index);
  return own.pop();
}

void free_class(void* block, std::size_t index) noexcept {
  Magazine& own = cache.magazines[index];
  own.push(static_cast<Block*>(block));
  if (own.count > own.limit) [[unlikely]]
    free_slow(index);
}

std::size_t block_pool_bytes() noexcept { return store().bytes(); }

}  // namespace rouse
