// TaskTable: the unfinished tasks of one worker, for shutdown. Its owner inserts; whoever completes
// a task, on any thread, clears the task's slot with one plain store.
//
// Slots never move: the table is a list of chunks. The owner walks over the slots and takes the
// free ones. After a round that met more full slots than free ones it adds as many slots as there
// are, so an insert takes amortized constant time, and the table stays within four times the
// largest number of tasks. It adds them chunk by chunk, as it needs them.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "rouse/base/atomic.hpp"
#include "rouse/exec/internal/task_header.hpp"

namespace rouse::internal {

class TaskTable {
 public:
  TaskTable() { add_chunk(64); }

  /// The owner's.
  void insert(TaskHeader& task) {
    for (;;) {
      if (next_ == end_) [[unlikely]]
        next_chunk();
      atomic<TaskHeader*>& slot = *next_++;
      if (slot.load(memory_order_relaxed) == nullptr) {
        slot.store(&task, memory_order_relaxed);
        task.slot = &slot;
        return;
      }
      ++full_;
    }
  }

  /// Any thread.
  static void erase(TaskHeader& task) noexcept { task.slot->store(nullptr, memory_order_relaxed); }

  /// How far a walk over all slots has come.
  struct Place {
    std::size_t chunk = 0;
    std::size_t slot = 0;
  };
  /// The next task of a walk; null at its end. Tasks may be erased meanwhile, but none inserted.
  TaskHeader* next(Place& place) const noexcept {
    for (; place.chunk != chunks_.size(); place = {.chunk = place.chunk + 1}) {
      const Chunk& chunk = chunks_[place.chunk];
      while (place.slot != chunk.size) {
        if (TaskHeader* task = chunk.slots[place.slot++].load(memory_order_relaxed)) return task;
      }
    }
    return nullptr;
  }

 private:
  struct Chunk {
    std::unique_ptr<atomic<TaskHeader*>[]> slots;
    std::size_t size;
  };

  static constexpr std::size_t largest_chunk = 4096;

  void add_chunk(std::size_t size) {
    chunks_.push_back({std::make_unique<atomic<TaskHeader*>[]>(size), size});
    slots_ += size;
    enter(chunks_.size() - 1);
  }
  void enter(std::size_t chunk) noexcept {
    chunk_ = chunk;
    next_ = chunks_[chunk].slots.get();
    end_ = next_ + chunks_[chunk].size;
  }
  [[gnu::noinline]] void next_chunk() {
    if (chunk_ + 1 < chunks_.size()) return enter(chunk_ + 1);
    if (to_add_ == 0) {
      const bool crowded = full_ > slots_ / 2;
      full_ = 0;
      if (!crowded) return enter(0);
      to_add_ = slots_;
    }
    const std::size_t left = std::exchange(to_add_, 0);  // without memory a new round begins
    const std::size_t size = left < largest_chunk ? left : largest_chunk;
    add_chunk(size);
    to_add_ = left - size;
  }

  atomic<TaskHeader*>* next_ = nullptr;  // where the walk is
  atomic<TaskHeader*>* end_ = nullptr;   // of its chunk
  std::size_t full_ = 0;                 // full slots met in this round
  std::size_t chunk_ = 0;
  std::size_t slots_ = 0;
  std::size_t to_add_ = 0;  // slots of this round that are not there yet
  std::vector<Chunk> chunks_;
};

}  // namespace rouse::internal
