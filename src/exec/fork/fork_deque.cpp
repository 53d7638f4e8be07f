#include "rouse/exec/internal/fork_deque.hpp"

namespace rouse::internal {

bool ForkDeque::push(Frame& branch) noexcept {
  atomic<Frame*>& slot = slots_[bottom_ % capacity];
  if (slot.load(memory_order_relaxed) != nullptr) return false;
  slot.store(&branch, memory_order_relaxed);
  ++bottom_;
  if (is_public_part_empty()) publish();
  return true;
}

bool ForkDeque::pop(const Frame& branch) noexcept {
  if (bottom_ == split_ && !take_back()) return false;
  if (newest().load(memory_order_relaxed) != &branch) return false;
  remove_newest();
  return true;
}

void ForkDeque::remove_newest() noexcept {
  newest().store(nullptr, memory_order_relaxed);
  --bottom_;
  if (is_public_part_empty() && bottom_ != split_) publish();
}

void ForkDeque::publish() noexcept {
  const std::uint32_t shared = (bottom_ - split_ + 1) / 2;
  split_ += shared;
  // ORDER: release; publishes the slots and the frames in them to the thief. seq_cst; see
  // has_public.
  word_.fetch_add(pack(0, shared), memory_order_seq_cst);
  if (published_ != nullptr) published_(data_);
}

bool ForkDeque::take_back() noexcept {
  std::uint64_t word = word_.load(memory_order_relaxed);
  std::uint32_t split = 0;
  do {
    const std::uint32_t top = top_of(word);
    if (top == split_) return false;
    split = split_ - (split_ - top + 1) / 2;
    // ORDER: relaxed; being an exchange it goes on with the release of `publish`.
  } while (!word_.compare_exchange_weak(word, pack(top_of(word), split), memory_order_relaxed,
                                        memory_order_relaxed));
  split_ = split;
  return true;
}

Frame* ForkDeque::pop_above(std::uint32_t mark) noexcept {
  // What is below the mark was pushed before and may be public, or gone: then so is all of it.
  if (static_cast<std::int32_t>(bottom_ - mark) <= 0) return nullptr;
  if (bottom_ == split_ && !take_back()) return nullptr;
  Frame* branch = newest().load(memory_order_relaxed);
  remove_newest();
  return branch;
}

Frame* ForkDeque::steal() noexcept {
  std::uint64_t word = word_.load(memory_order_relaxed);
  const std::uint32_t top = top_of(word);
  if (top == split_of(word)) return nullptr;
  // ORDER: acquire; sees the slot and the frame that `publish` published (exchanges in between go
  // on with its release).
  if (!word_.compare_exchange_strong(word, pack(top + 1, split_of(word)), memory_order_acquire,
                                     memory_order_relaxed)) {
    return nullptr;
  }
  atomic<Frame*>& slot = slots_[top % capacity];
  Frame* branch = slot.load(memory_order_relaxed);
  // ORDER: relaxed; what the owner puts there once it finds the slot empty comes later in the order
  // of this one variable, so the load above can't see it.
  slot.store(nullptr, memory_order_relaxed);
  return branch;
}

}  // namespace rouse::internal
