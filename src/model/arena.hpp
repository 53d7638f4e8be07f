// Arena: the memory that `new` gives to a model's threads. Each thread has a region of its own,
// from which blocks are cut one after the other; nothing is reused until the execution ends. So
//  - addresses depend on what a thread did and not on what others did meanwhile: the same history
//    gives the same addresses, in every execution;
//  - a use after free can't hit a new object: it is seen;
//  - an execution that is broken off needs no cleaning up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/knowledge.hpp"

namespace rouse::model {

class Arena {
 public:
  struct Block {
    char* start;
    std::size_t size;
    ThreadIndex thread;
    std::uint32_t step;  // of the execution, when it was made
    bool live;
  };
  enum class Freed : std::uint8_t { now, before, never_made };
  /// What a freed block is filled with.
  static constexpr unsigned char freed_byte = 0xDF;

  Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  /// Gives the memory back, unless it is to be kept.
  ~Arena();
  /// Something outside of the execution may refer to its blocks.
  void keep() noexcept { is_kept_ = true; }

  /// Forgets all blocks.
  void begin_execution() noexcept;
  /// Null if the region of the thread is full.
  void* allocate(ThreadIndex thread, std::uint32_t step, std::size_t size, std::size_t alignment);
  Freed free(void* memory) noexcept;
  /// The block this address is in, or null.
  [[nodiscard]] const Block* find(const void* address) const noexcept;
  /// The oldest block that was not freed, or null.
  [[nodiscard]] const Block* first_live() const noexcept;
  [[nodiscard]] std::size_t live() const noexcept { return live_; }

  /// Whether any arena of this process ever gave this memory.
  [[nodiscard]] static bool owns(const void* memory) noexcept;
  /// Of memory of an arena: how far it is from the beginning of its thread's region. And that
  /// thread.
  struct Position {
    ThreadIndex thread;
    std::size_t offset;
  };
  [[nodiscard]] static Position position_of(const void* memory) noexcept;

 private:
  struct Region {
    char* begin = nullptr;
    char* next = nullptr;
    std::vector<Block> blocks;  // by address
  };

  char* memory_ = nullptr;
  std::array<Region, max_threads> regions_;
  std::size_t live_ = 0;
  bool is_kept_ = false;
};

}  // namespace rouse::model
