// RunQueue: a first-in-first-out ring of tasks for one thread. Grows, never shrinks.
#pragma once

#include <cstddef>
#include <memory>

#include "rouse/exec/task_header.hpp"

namespace rouse {

class RunQueue {
 public:
  bool empty() const noexcept { return head_ == tail_; }
  std::size_t size() const noexcept { return tail_ - head_; }

  void push(TaskHeader& task) {
    if (size() == capacity_) [[unlikely]] grow();
    ring_[tail_++ & (capacity_ - 1)] = &task;
  }
  TaskHeader& pop() noexcept { return *ring_[head_++ & (capacity_ - 1)]; }
  void clear() noexcept { head_ = tail_; }

 private:
  void grow() {
    const std::size_t capacity = capacity_ ? 2 * capacity_ : 64;
    auto ring = std::make_unique<TaskHeader*[]>(capacity);
    for (std::size_t i = head_; i != tail_; ++i) {
      ring[i & (capacity - 1)] = ring_[i & (capacity_ - 1)];
    }
    ring_ = std::move(ring);
    capacity_ = capacity;
  }

  std::unique_ptr<TaskHeader*[]> ring_;
  std::size_t capacity_ = 0;  // 0 or a power of two
  std::size_t head_ = 0;      // head_ and tail_ only count up; they wrap by themselves
  std::size_t tail_ = 0;
};

}  // namespace rouse
