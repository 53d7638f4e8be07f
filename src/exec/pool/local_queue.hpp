// LocalQueue: a worker's FIFO run queue. The owner pushes at the tail without any read-modify-write
// and takes a few tasks at a time from the head with one; thieves steal the older half, also from
// the head. It grows, so that a full queue never changes who is served next (docs/design/0004).
//
// Invariants:
//  - Tasks are at [head, tail) of the current ring. Only the owner moves `tail` and changes rings.
//  - Who moves `head` from h to h+n by compare-exchange owns the tasks at [h, h+n).
//  - The owner writes the slot of position t only if t - head < size, so a slot is rewritten only
//    after `head` went past its position.
//
// A thief copies slots before it moves `head`. The copies are valid if the exchange succeeds:
// `head` only counts up, so it was h all the time, and no slot of [h, h+n) was rewritten. The ring
// it read is valid too: it reads `tail` first and `ring` after, so that ring held all of [h, tail)
// or was made from one that did, with head still at h. Rings are freed with the queue, so reading
// an old one is harmless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "rouse/base/atomic.hpp"
#include "rouse/base/cell.hpp"
#include "rouse/exec/internal/task_header.hpp"

namespace rouse::internal {

class LocalQueue {
 public:
  /// `size`: of the first ring; a power of two.
  explicit LocalQueue(std::size_t size = 256) { install(std::make_unique<Ring>(size)); }

  /// Any thread; a moment later it may be wrong.
  std::size_t size() const noexcept {
    const std::uint64_t head = head_.load(memory_order_relaxed);
    const std::uint64_t tail = tail_.load(memory_order_relaxed);
    return tail > head ? tail - head : 0;
  }
  bool empty() const noexcept { return size() == 0; }

  // --- The owner's. ---

  /// False: it is full, and there is no memory for a larger ring.
  bool push(TaskHeader& task) noexcept {
    const std::uint64_t tail = tail_.load(memory_order_relaxed);
    if (tail - seen_head_ > own_->mask && !make_room(tail)) [[unlikely]]
      return false;
    own_->slots[tail & own_->mask].write(&task);
    // ORDER: release; publishes the slot, the ring and the task to thieves.
    tail_.store(tail + 1, memory_order_release);
    return true;
  }

  /// Takes as many tasks as there are and `out` has room for. Gives those, oldest first: the end of
  /// `out`.
  std::span<TaskHeader*> take(std::span<TaskHeader*> out) noexcept {
    const std::uint64_t tail = tail_.load(memory_order_relaxed);
    std::uint64_t head = head_.load(memory_order_relaxed);
    std::size_t count = 0;
    do {
      count = tail - head < out.size() ? tail - head : out.size();
      if (count == 0) return {};
      // ORDER: relaxed; the tasks were pushed by this thread, and thieves take nothing from it.
    } while (!head_.compare_exchange_weak(head, head + count, memory_order_relaxed,
                                          memory_order_relaxed));
    const std::span<TaskHeader*> taken = out.last(count);
    for (std::size_t i = 0; i < count; ++i) {
      taken[i] = own_->slots[(head + i) & own_->mask].read();
    }
    return taken;
  }

  // --- A thief's. ---

  /// Steals the older half, at most `max`. 0: there was nothing, or another thief was faster.
  std::size_t steal(TaskHeader** out, std::size_t max) noexcept {
    // ORDER: relaxed; if it is old the exchange fails.
    std::uint64_t head = head_.load(memory_order_relaxed);
    // ORDER: acquire; sees the slots, the ring and the tasks.
    const std::uint64_t tail = tail_.load(memory_order_acquire);
    if (tail <= head) return 0;
    const std::size_t half = (tail - head + 1) / 2;
    const std::size_t count = half < max ? half : max;
    // ORDER: acquire; at least as new as the one in which [head, tail) was pushed.
    const Ring& ring = *ring_.load(memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = ring.slots[(head + i) & ring.mask].guess();
    }
    // ORDER: release; the slots were read before they may be rewritten (see `make_room`).
    if (!head_.compare_exchange_strong(head, head + count, memory_order_release,
                                       memory_order_relaxed)) {
      return 0;
    }
    for (std::size_t i = 0; i < count; ++i) ring.slots[(head + i) & ring.mask].confirm();
    return count;
  }

 private:
  struct Ring {
    explicit Ring(std::size_t size)
        : mask(size - 1), slots(std::make_unique<Slot<TaskHeader*>[]>(size)) {}
    const std::size_t mask;
    const std::unique_ptr<Slot<TaskHeader*>[]> slots;
  };

  void install(std::unique_ptr<Ring> ring) {
    rings_.push_back(std::move(ring));  // first: it may throw
    own_ = rings_.back().get();
    // ORDER: release; publishes the ring's slots.
    ring_.store(own_, memory_order_release);
  }

  [[gnu::noinline]] bool make_room(std::uint64_t tail) noexcept {
    // ORDER: acquire; pairs with a thief's exchange: it has read the slots that are rewritten.
    seen_head_ = head_.load(memory_order_acquire);
    if (tail - seen_head_ <= own_->mask) return true;
    try {
      grow(tail);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  void grow(std::uint64_t tail) {
    const Ring& old = *own_;
    auto larger = std::make_unique<Ring>(2 * (old.mask + 1));
    for (std::uint64_t i = seen_head_; i != tail; ++i) {
      larger->slots[i & larger->mask].write(old.slots[i & old.mask].read());
    }
    install(std::move(larger));
  }

  // The owner's.
  alignas(64) Ring* own_ = nullptr;
  std::uint64_t seen_head_ = 0;  // at most the head
  std::vector<std::unique_ptr<Ring>> rings_;
  atomic<std::uint64_t> tail_{0};
  // Thieves write it.
  alignas(64) atomic<std::uint64_t> head_{0};
  atomic<const Ring*> ring_{nullptr};
};

}  // namespace rouse::internal
