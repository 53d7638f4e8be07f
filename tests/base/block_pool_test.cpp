// Under AddressSanitizer every block is its own allocation: what is asked about the pool's size
// then holds trivially, and what is asked about the blocks is checked by the sanitizer too.
#include "rouse/base/internal/block_pool.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"

namespace rouse {

using namespace internal;
namespace {

struct Block {
  Block() noexcept = default;
  Block(void* block, std::size_t bytes) noexcept : memory(block), size(bytes) {}
  void* memory = nullptr;
  std::size_t size = 0;
};

/// Blocks filled whole with a byte of their own; whoever writes into another's is found out.
class Filled {
 public:
  void add(std::size_t size, unsigned char byte) {
    Slot& slot = slots_[next_++ % slots_.size()];
    check_and_free(slot);
    slot.block = Block(allocate_block(size), size);
    slot.byte = byte;
    aligned_ = aligned_ && reinterpret_cast<std::uintptr_t>(slot.block.memory) % 16 == 0;
    std::memset(slot.block.memory, byte, size);
  }
  void clear() {
    for (Slot& slot : slots_) check_and_free(slot);
  }
  [[nodiscard]] bool aligned() const { return aligned_; }
  [[nodiscard]] bool intact() const { return intact_; }

 private:
  struct Slot {
    Block block;
    unsigned char byte = 0;
  };
  void check_and_free(Slot& slot) {
    if (slot.block.memory == nullptr) return;
    // All bytes are equal if the first is right and each equals the next.
    const auto* bytes = static_cast<const unsigned char*>(slot.block.memory);
    const std::size_t size = slot.block.size;
    intact_ = intact_ && bytes[0] == slot.byte && std::memcmp(bytes, bytes + 1, size - 1) == 0;
    free_block(slot.block.memory, size);
    slot.block.memory = nullptr;
  }

  std::array<Slot, 64> slots_;
  std::size_t next_ = 0;
  bool aligned_ = true;
  bool intact_ = true;
};

TEST(BlockPool, BlocksOfEverySizeAreAlignedAndDoNotOverlap) {
  Filled blocks;
  for (std::size_t size = 1; size <= 70'000; ++size) {
    blocks.add(size, static_cast<unsigned char>(size * 131));
  }
  blocks.clear();
  EXPECT_TRUE(blocks.aligned());
  EXPECT_TRUE(blocks.intact());
}

TEST(BlockPool, BlocksOfMixedSizesAndLivesDoNotOverlap) {
  Filled blocks;
  std::uint32_t random = 1;
  for (int i = 0; i < 200'000; ++i) {
    random = random * 1664525u + 1013904223u;
    const std::size_t limit = std::size_t{16} << (random >> 28);  // up to 512 KiB, small mostly
    const std::size_t size = 1 + (random >> 8) % (limit < 40'000 ? limit : 2'000);
    blocks.add(size, static_cast<unsigned char>(random >> 16));
  }
  blocks.clear();
  EXPECT_TRUE(blocks.aligned());
  EXPECT_TRUE(blocks.intact());
}

TEST(BlockPool, AClassIsAsLargeAsEverySizeInIt) {
  std::size_t last = 0;
  for (std::size_t size = 1; size <= BlockClass::large_limit; ++size) {
    const std::size_t index = BlockClass::of(size);
    ASSERT_LT(index, BlockClass::count);
    ASSERT_GE(BlockClass::bytes(index), size);
    ASSERT_GE(index, last);
    ASSERT_LE(BlockClass::bytes(index), size + (size < 1024 ? 15 : size / 4 + 16));  // little waste
    last = index;
  }
  EXPECT_EQ(last, BlockClass::count - 1);
}

TEST(BlockPool, AFreedBlockIsTheNextOneOfItsClass) {
  if (address_sanitizer) GTEST_SKIP() << "the sanitizer keeps freed blocks back";
  void* first = allocate_block(100);
  free_block(first, 100);
  void* second = allocate_block(112);
  EXPECT_EQ(first, second);
  free_block(second, 112);
}

TEST(BlockPool, DoesNotGrowWhenTheSameBlocksComeAndGo) {
  const auto round = [] {
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < 3'000; ++i) {
      const std::size_t size = 1 + i * 7 % 5'000;
      blocks.emplace_back(allocate_block(size), size);
    }
    for (const Block& block : blocks) free_block(block.memory, block.size);
  };
  for (int i = 0; i < 3; ++i) round();
  const std::size_t before = block_pool_bytes();
  for (int i = 0; i < 50; ++i) round();
  EXPECT_EQ(block_pool_bytes(), before);
}

void spin_until(auto condition) {
  for (int i = 0; !condition(); ++i) {
    if (i < 100) {
      spin_hint();
    } else {
      std::this_thread::yield();
    }
  }
}

/// Hands blocks from one thread to another: a ring with one place for each block in flight.
class Ring {
 public:
  void put(void* block) {
    spin_until([&] { return put_ - taken_.load(memory_order_acquire) < slots_.size(); });
    slots_[put_ % slots_.size()] = block;
    published_.store(++put_, memory_order_release);
  }
  void* take() {
    spin_until([&] { return published_.load(memory_order_acquire) > take_; });
    void* block = slots_[take_ % slots_.size()];
    taken_.store(++take_, memory_order_release);
    return block;
  }

 private:
  std::array<void*, 1024> slots_{};
  std::size_t put_ = 0;
  std::size_t take_ = 0;
  atomic<std::size_t> published_{0};
  atomic<std::size_t> taken_{0};
};

TEST(BlockPool, StaysBoundedWhenOneThreadAllocatesAndAnotherFrees) {
  constexpr std::size_t size = 208;
  constexpr std::size_t count = 2'000'000;
  const std::size_t before = block_pool_bytes();
  Ring ring;
  bool intact = true;
  Thread consumer([&] {
    for (std::size_t i = 0; i < count; ++i) {
      void* block = ring.take();
      std::size_t stamp = 0;
      std::memcpy(&stamp, static_cast<char*>(block) + size - sizeof stamp, sizeof stamp);
      intact = intact && stamp == i;
      free_block(block, size);
    }
  });
  for (std::size_t i = 0; i < count; ++i) {
    void* block = allocate_block(size);
    std::memcpy(static_cast<char*>(block) + size - sizeof i, &i, sizeof i);
    ring.put(block);
  }
  consumer.join();
  EXPECT_TRUE(intact);
  // 1024 in flight, two full magazines, chunks half used: all of them would be 416 MB.
  EXPECT_LT(block_pool_bytes(), before + 1024u * 1024u);
}

/// Runs `fn` on a thread of its own, to its end.
template <class Fn>
void on_thread(Fn fn) {
  Thread thread(fn);
  thread.join();
}

TEST(BlockPool, AThreadHandsItsBlocksOnWhenItEnds) {
  const auto use = [] {
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < 500; ++i) {
      const std::size_t size = 16 + i * 16 % 3'000;
      blocks.emplace_back(allocate_block(size), size);
    }
    for (const Block& block : blocks) free_block(block.memory, block.size);
  };
  // The blocks a thread leaves are of the sizes it used and of what its last chunk was cut into.
  for (int i = 0; i < 50; ++i) on_thread(use);
  const std::size_t before = block_pool_bytes();
  for (int i = 0; i < 300; ++i) on_thread(use);
  EXPECT_EQ(block_pool_bytes(), before);
}

TEST(BlockPool, AThreadThatOnlyFreesHandsTheBlocksOn) {
  constexpr std::size_t size = 480;
  const auto round = [] {
    std::vector<void*> blocks;
    for (int i = 0; i < 1000; ++i) blocks.push_back(allocate_block(size));
    on_thread([&] {
      for (void* block : blocks) free_block(block, size);
    });
  };
  for (int i = 0; i < 3; ++i) round();
  const std::size_t before = block_pool_bytes();
  for (int i = 0; i < 100; ++i) round();
  EXPECT_EQ(block_pool_bytes(), before);
}

/// Frees its blocks when its thread ends.
class FreesAtThreadEnd {
 public:
  FreesAtThreadEnd() noexcept = default;
  FreesAtThreadEnd(const FreesAtThreadEnd&) = delete;
  ~FreesAtThreadEnd() {
    for (const Block& block : blocks_) free_block(block.memory, block.size);
    void* last = allocate_block(64);  // and allocating still works
    std::memset(last, 1, 64);
    free_block(last, 64);
  }
  void keep(std::size_t size) { blocks_.emplace_back(allocate_block(size), size); }

 private:
  std::vector<Block> blocks_;
};

TEST(BlockPool, BlocksFreedByThreadLocalDestructorsAreReused) {
  const auto use = [] {
    static thread_local FreesAtThreadEnd ends_after_the_cache;  // made before the first block
    ends_after_the_cache.keep(64);
    static thread_local FreesAtThreadEnd ends_before_the_cache;
    for (std::size_t i = 0; i < 200; ++i) {
      ends_after_the_cache.keep(64 + i % 3 * 1000);
      ends_before_the_cache.keep(64 + i % 3 * 1000);
    }
  };
  for (int i = 0; i < 20; ++i) on_thread(use);
  const std::size_t before = block_pool_bytes();
  for (int i = 0; i < 200; ++i) on_thread(use);
  EXPECT_EQ(block_pool_bytes(), before);
}

/// Of this thread, on the processor: what others do does not count.
std::chrono::nanoseconds time_used() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST(BlockPool, ManyFreeBlocksGoBackWithoutDelayingASleepForLong) {
  constexpr std::size_t size = 224;
  std::vector<void*> blocks;
  for (int i = 0; i < 60'000; ++i) blocks.push_back(allocate_block(size));
  std::shuffle(blocks.begin(), blocks.end(), std::minstd_rand(1));
  for (void* block : blocks) free_block(block, size);
  std::chrono::nanoseconds longest{0};
  std::chrono::nanoseconds all{0};
  while (block_pool_bytes() > 8u * 1024u * 1024u) {
    const auto before = time_used();
    tidy_blocks();
    const auto used = time_used() - before;
    if (used < std::chrono::microseconds(50)) continue;  // nothing was to be done yet
    longest = std::max(longest, used);
    all += used;
  }
  // In about 15 steps of the same size. How long each takes is the machine's affair.
  EXPECT_TRUE(longest < std::chrono::milliseconds(1) || longest < all / 2) << longest.count();
}

TEST(BlockPool, SortedBlocksAreUsedBeforeThereAreMore) {
  constexpr std::size_t size = 224;
  constexpr std::size_t count = 50'000;
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(allocate_block(size));
  const std::size_t before = block_pool_bytes();
  // One of each chunk stays, so that all the others are sorted in vain.
  const auto stays = [](std::size_t i) { return i % 100 == 0; };
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!stays(i)) free_block(blocks[i], size);
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (std::chrono::steady_clock::now() < end) tidy_blocks();
    for (std::size_t i = 0; i < count; ++i) {
      if (!stays(i)) blocks[i] = allocate_block(size);
    }
    for (std::size_t i = 0; i < count; ++i) std::memcpy(blocks[i], &i, sizeof i);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(std::memcmp(blocks[i], &i, sizeof i), 0) << "two blocks are one";
    }
  }
  EXPECT_EQ(block_pool_bytes(), before);
  for (void* block : blocks) free_block(block, size);
}

TEST(BlockPool, ManyThreadsAllocateAndFreeEachOthersBlocks) {
  constexpr std::size_t places = 256;
  std::vector<atomic<void*>> shared(places);
  const auto size_of = [](std::size_t place) { return 16 + place * 48; };
  std::vector<Thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::uint32_t random = t;
      for (int i = 0; i < 50'000; ++i) {
        random = random * 1664525u + 1013904223u;
        const std::size_t place = (random >> 16) % places;
        void* mine = allocate_block(size_of(place));
        std::memset(mine, static_cast<int>(place), size_of(place));
        void* other = shared[place].exchange(mine, memory_order_acq_rel);
        if (other == nullptr) continue;
        const auto* bytes = static_cast<const unsigned char*>(other);
        EXPECT_EQ(bytes[0], place);
        EXPECT_EQ(bytes[size_of(place) - 1], place);
        free_block(other, size_of(place));
      }
    });
  }
  for (Thread& thread : threads) thread.join();
  for (std::size_t place = 0; place < places; ++place) {
    if (void* left = shared[place].load()) free_block(left, size_of(place));
  }
}

}  // namespace
}  // namespace rouse
