#include "exec/pool/worker.hpp"

#include <utility>

#include "sys/heavy_fence.hpp"

namespace rouse::internal {

std::span<TaskHeader*> Worker::rob(std::span<TaskHeader*, max_robbed> out) noexcept {
  const Lock lock(robbery_);
  const bool has_lifo = robbed_lifo_ == nullptr && lifo_.load(memory_order_relaxed) != nullptr;
  const bool has_taken =
      robbed_from_ == take_at_once && taken_next_.load(memory_order_relaxed) != take_at_once;
  if (!has_lifo && !has_taken) return {};
  was_robbed_.store(true, memory_order_relaxed);
  if (!sys::heavy_fence()) return {};  // the owner asks once in vain
  std::size_t count = 0;
  if (has_lifo) {
    // ORDER: acquire; sees the task.
    robbed_lifo_ = lifo_.load(memory_order_acquire);
    if (robbed_lifo_ != nullptr) out[count++] = robbed_lifo_;
  }
  if (has_taken) {
    // ORDER: acquire; sees the slots, and the tasks in them.
    robbed_from_ = taken_next_.load(memory_order_acquire);
    for (std::size_t i = robbed_from_; i < take_at_once; ++i) out[count++] = taken_[i];
  }
  return out.first(count);
}

bool Worker::was_robbed_of_taken() noexcept {
  const Lock lock(robbery_);
  was_robbed_.store(false, memory_order_relaxed);
  bool is_gone = false;
  if (std::exchange(robbed_lifo_, nullptr) != nullptr) {
    is_gone = lifo_.load(memory_order_relaxed) == nullptr;  // it was taken from there just now
    lifo_.store(nullptr, memory_order_relaxed);
  }
  const std::size_t from = std::exchange(robbed_from_, take_at_once);
  if (from != take_at_once) {
    is_gone = is_gone || taken_next_.load(memory_order_relaxed) != from;
    taken_next_.store(take_at_once, memory_order_relaxed);
  }
  return is_gone;
}

bool Worker::was_robbed_of_pushed_out(const TaskHeader& task) noexcept {
  const Lock lock(robbery_);
  was_robbed_.store(false, memory_order_relaxed);
  if (std::exchange(robbed_from_, take_at_once) != take_at_once) {
    taken_next_.store(take_at_once, memory_order_relaxed);
  }
  const TaskHeader* robbed = std::exchange(robbed_lifo_, nullptr);
  if (robbed == &task) return true;
  // The thief came after the push: it has the one that was pushed.
  if (robbed != nullptr) lifo_.store(nullptr, memory_order_relaxed);
  return false;
}

}  // namespace rouse::internal
