// A system that has no pages left for the block pool, or does not take them back.
#include "sys/memory.hpp"

#include <cerrno>
#include <cstddef>
#include <new>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/base/internal/block_pool.hpp"

#include "faulty/faults.hpp"
#include "faulty/harness.hpp"

namespace rouse::faulty {
namespace {

using internal::block_pool_bytes;
using internal::blocks_are_pooled;

constexpr std::size_t block_size = 32 * 1024;
constexpr std::size_t megabyte = 1024 * 1024;

class Blocks {
 public:
  Blocks() = default;
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() {
    for (void* each : blocks_) internal::free_block(each, block_size);
  }
  void allocate(std::size_t bytes) {
    blocks_.reserve(bytes / block_size);
    for (std::size_t i = 0; i < bytes / block_size; ++i)
      blocks_.push_back(internal::allocate_block(block_size));
  }

 private:
  std::vector<void*> blocks_;
};

/// Uses so much memory, and ends: what a thread has goes to the depot then.
void use_in_a_thread(std::size_t bytes) {
  std::thread([bytes] { Blocks().allocate(bytes); }).join();
}

TEST(FaultyMemory, WithoutPagesAnAllocationThrows) {
  for (const int error : {EAGAIN, ENOMEM}) {
    {
      const Injection injection(Fault("mmap", error).always());
      EXPECT_EQ(sys::map_pages(megabyte, megabyte), nullptr);
      if (blocks_are_pooled) {
        Blocks blocks;
        EXPECT_THROW(blocks.allocate(block_pool_bytes() + 16 * megabyte), std::bad_alloc);
      }
      add_row("mmap", name_of_error(error), "allocate a block", injection.hits(), "bad_alloc");
    }
    Blocks().allocate(16 * megabyte);
  }
}

TEST(FaultyMemory, PagesThatTheSystemDoesNotTakeBackAreUsedAgain) {
  for (const int error : {EINVAL, ENOMEM}) {
    {
      const Injection injection(Fault("munmap", error).always());
      void* const pages = sys::map_pages(megabyte, megabyte);
      ASSERT_NE(pages, nullptr);
      EXPECT_FALSE(sys::unmap_pages(pages, megabyte));
      use_in_a_thread(64 * megabyte);
      add_row("munmap", name_of_error(error), "give memory back", injection.hits(),
              "the memory is used again");
    }
    if (!blocks_are_pooled) continue;
    const auto kept = block_pool_bytes();
    EXPECT_GE(kept, 64 * megabyte);
    Blocks().allocate(48 * megabyte);
    EXPECT_EQ(block_pool_bytes(), kept);
    use_in_a_thread(block_size);
    EXPECT_LT(block_pool_bytes(), kept);
  }
}

}  // namespace
}  // namespace rouse::faulty
