// RunQueue: a first-in-first-out ring of tasks for one thread. Grows, never shrinks.
#pragma once

#include <cstddef>
#include <memory>

#include "rouse/exec/internal/task_header.hpp"

namespace rouse::internal {

class RunQueue {
 public:
  bool empty() const noexcept { return head_ == tail_; }
  std::size_t size() const noexcept { return tail_ - head_; }

  /// From now on there is room for so many at once. Throws std::bad_alloc.
  void reserve(std::size_t count) {
    while (count > mask_ + 1) [[unlikely]]
      grow();
  }
  /// Within what was reserved.
  void push(TaskHeader& task) noexcept { ring_[tail_++ & mask_] = &task; }
  TaskHeader& pop() noexcept {
    TaskHeader& task = *ring_[head_++ & mask_];
    // The next one is on its way while this one is polled. (At the end this is an old entry: a
    // prefetch of any address is harmless.)
    __builtin_prefetch(ring_[head_ & mask_]);
    return task;
  }

 private:
  [[gnu::noinline]] void grow() {
    const std::size_t mask = 2 * mask_ + 1;
    auto ring = std::make_unique<TaskHeader*[]>(mask + 1);
    for (std::size_t i = head_; i != tail_; ++i) ring[i & mask] = ring_[i & mask_];
    ring_ = std::move(ring);
    mask_ = mask;
  }

  std::size_t mask_ = 63;  // the ring's size, a power of two, less one
  std::unique_ptr<TaskHeader*[]> ring_ = std::make_unique<TaskHeader*[]>(mask_ + 1);
  std::size_t head_ = 0;  // head_ and tail_ only count up; they wrap by themselves
  std::size_t tail_ = 0;
};

}  // namespace rouse::internal
