// TaskTable: the unfinished tasks of one worker, for shutdown and for whoever examines them. Its
// owner inserts; whoever completes a task, on any thread, clears the task's slot with one plain
// store.
//
// Slots never move: the table is a list of chunks, which any thread may walk along. The owner walks
// over the slots and takes the free ones. After a round that met more full slots than free ones it
// adds as many slots as there are, so an insert takes amortized constant time, and the table stays
// within four times the largest number of tasks. It adds them chunk by chunk, as it needs them.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/cell.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/exec/internal/task_header.hpp"

namespace rouse::internal {

class TaskTable {
 public:
  using Slot = atomic<TaskHeader*>;

  TaskTable() { enter(*first_); }
  TaskTable(const TaskTable&) = delete;
  TaskTable& operator=(const TaskTable&) = delete;
  ~TaskTable() {
    for (Chunk* chunk = first_; chunk != nullptr;) {
      delete std::exchange(chunk, chunk->next.load(memory_order_relaxed));
    }
  }

  /// The owner's.
  void insert(TaskHeader& task) {
    for (;;) {
      if (next_ == end_) [[unlikely]]
        next_chunk();
      Slot& slot = *next_++;
      if (slot.load(memory_order_relaxed) == nullptr) {
        task.slot = &slot;
        // ORDER: release; publishes the task to an examiner.
        slot.store(&task, memory_order_release);
        return;
      }
      ++full_;
    }
  }

  /// Any thread.
  static void erase(TaskHeader& task) noexcept { task.slot->store(nullptr, memory_order_relaxed); }

 private:
  struct Chunk {
    explicit Chunk(std::size_t count) : slots(new Slot[count]{}), size(count) {}
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;
    ~Chunk() { delete[] slots; }
    Slot* const slots;
    const Cell<std::size_t> size;
    atomic<Chunk*> next{nullptr};
  };

 public:
  /// How far a walk over all slots has come.
  class Place {
   public:
    Place() noexcept = default;

   private:
    friend class TaskTable;
    const Chunk* chunk_ = nullptr;
    std::size_t slot_ = 0;
  };
  /// The next task of a walk; null at its end. Tasks may be erased meanwhile, but none inserted.
  TaskHeader* next(Place& place) const noexcept {
    while (Slot* const slot = next_slot(place)) {
      if (TaskHeader* const task = slot->load(memory_order_relaxed)) return task;
    }
    return nullptr;
  }
  /// The same, but tasks may be inserted, too: gives the next slot that has one.
  Slot* next_slot(Place& place) const noexcept {
    if (place.chunk_ == nullptr) place.chunk_ = first_;
    for (;;) {
      while (place.slot_ != place.chunk_->size.read()) {
        Slot& slot = place.chunk_->slots[place.slot_++];
        if (slot.load(memory_order_relaxed) != nullptr) return &slot;
      }
      // ORDER: acquire; sees the chunk.
      const Chunk* const next = place.chunk_->next.load(memory_order_acquire);
      if (next == nullptr) return nullptr;
      place.chunk_ = next;
      place.slot_ = 0;
    }
  }

 private:
  static constexpr std::size_t first_chunk = model_checker ? 2 : 64;
  static constexpr std::size_t largest_chunk = 4096;

  void add_chunk(std::size_t size) {
    auto* const chunk = new Chunk(size);
    // ORDER: release; publishes the chunk.
    last_->next.store(chunk, memory_order_release);
    last_ = chunk;
    slots_ += size;
    enter(*chunk);
  }
  void enter(Chunk& chunk) noexcept {
    chunk_ = &chunk;
    next_ = chunk.slots;
    end_ = next_ + chunk.size.read();
  }
  [[gnu::noinline]] void next_chunk() {
    if (Chunk* const next = chunk_->next.load(memory_order_relaxed)) return enter(*next);
    if (to_add_ == 0) {
      const bool crowded = full_ > slots_ / 2;
      full_ = 0;
      if (!crowded) return enter(*first_);
      to_add_ = slots_;
    }
    const std::size_t left = std::exchange(to_add_, 0);  // without memory a new round begins
    const std::size_t size = left < largest_chunk ? left : largest_chunk;
    add_chunk(size);
    to_add_ = left - size;
  }

  Chunk* const first_ = new Chunk(first_chunk);
  Slot* next_ = nullptr;  // where the walk of the owner is
  Slot* end_ = nullptr;   // of its chunk
  std::size_t full_ = 0;  // full slots met in this round
  Chunk* chunk_ = nullptr;
  Chunk* last_ = first_;
  std::size_t slots_ = first_chunk;
  std::size_t to_add_ = 0;  // slots of this round that are not there yet
};

}  // namespace rouse::internal
