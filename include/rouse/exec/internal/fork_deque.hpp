// ForkDeque: where a worker offers the children of `parallel` that have not begun. The worker, its
// owner, pushes and pops at the new end (bottom); thieves steal from the old end (top).
//
//      top          split             bottom
//       |  public    |     private      |
//       [ stealable  )[ the owner's own )
//
// Pushing and popping private entries takes no read-modify-write. One atomic word holds {split,
// top}; the owner moves `split` up when the public part is empty, and down when the private part
// is.
//
// Invariants, and why each entry is taken exactly once:
//  - top <= split <= bottom (differences mod 2^32). Only the owner changes split and bottom, so its
//    copy of split is exact. top only grows, by a thief's exchange of the whole word.
//  - A thief that exchanged {t, s} for {t+1, s} owns entry t: it was public at that moment, and no
//    other exchange from top = t can succeed any more. It reads the slot only then: while top was
//    t, entry t might have been taken back, popped and replaced (split t, then t+1 again).
//  - The owner pops only entries >= split. It lowers split by an exchange that fails if a thief was
//    faster, so what it takes back no thief has or can get.
//  - A thief empties its slot after reading it, the owner when it pops. The owner fills only empty
//    slots: so it never overruns an entry whose thief is slow; such a slot makes the deque full.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/internal/frame.hpp"

namespace rouse::internal {

class ROUSE_API ForkDeque {
 public:
  static constexpr std::uint32_t capacity = 4096;
  using PublishedFn = void (*)(void* data) noexcept;

  /// `published(data)` is called by the owner whenever there is something to steal anew.
  explicit ForkDeque(PublishedFn published = nullptr, void* data = nullptr) noexcept
      : published_(published), data_(data) {}
  ForkDeque(const ForkDeque&) = delete;
  ForkDeque& operator=(const ForkDeque&) = delete;
  ~ForkDeque() {
    ROUSE_ASSERT(bottom_ == split_ && is_public_part_empty(),
                 "a fork deque was destroyed that still has entries");
  }

  // --- The owner. ---

  // The first of each pair does the common case alone, in a few instructions without a call. False,
  // or null, may also mean that the public part needs attention: then the second is to be asked.

  [[nodiscard]] bool push_private(Frame& branch) noexcept {
    atomic<Frame*>& slot = slots_[bottom_ % capacity];
    if (slot.load(memory_order_relaxed) != nullptr || is_public_part_empty()) [[unlikely]]
      return false;
    slot.store(&branch, memory_order_relaxed);
    ++bottom_;
    return true;
  }
  /// False: the deque is full.
  [[nodiscard]] bool push(Frame& branch) noexcept;

  /// The newest entry, if `parent` offered it; else null.
  [[nodiscard]] Frame* pop_private(const Frame& parent) noexcept {
    if (bottom_ == split_ || is_public_part_empty()) [[unlikely]]
      return nullptr;
    atomic<Frame*>& slot = newest();
    Frame* const branch = slot.load(memory_order_relaxed);
    if (&branch->offered_by() != &parent) [[unlikely]]
      return nullptr;
    slot.store(nullptr, memory_order_relaxed);
    --bottom_;
    return branch;
  }
  /// Takes `branch` back if it is the newest entry. False: it is not, or was stolen.
  [[nodiscard]] bool pop(const Frame& branch) noexcept;

  /// The newest entry that lies above `mark`, an earlier `bottom()`; else null.
  [[nodiscard]] Frame* pop_above(std::uint32_t mark) noexcept;

  [[nodiscard]] std::uint32_t bottom() const noexcept { return bottom_; }
  /// The index of the oldest entry or, if thieves are at it, an older one: a mark for `pop_above`.
  [[nodiscard]] std::uint32_t oldest() const noexcept {
    return top_of(word_.load(memory_order_relaxed));
  }

  // --- Any thread. ---

  /// The oldest public entry; null if there is none or another thief was faster.
  [[nodiscard]] Frame* steal() noexcept;
  /// ORDER: seq_cst; a thread that told that it goes to sleep, and then looks here, sees what was
  /// published, or whoever published sees that it sleeps.
  [[nodiscard]] bool has_public() const noexcept {
    const std::uint64_t word = word_.load(memory_order_seq_cst);
    return top_of(word) != split_of(word);
  }

 private:
  // The word: split in the upper half, so that adding to it wraps without touching top.
  static constexpr std::uint32_t top_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
  }
  static constexpr std::uint32_t split_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static constexpr std::uint64_t pack(std::uint32_t top, std::uint32_t split) noexcept {
    return std::uint64_t{split} << 32 | top;
  }

  bool is_public_part_empty() const noexcept { return oldest() == split_; }
  atomic<Frame*>& newest() noexcept { return slots_[(bottom_ - 1) % capacity]; }
  void remove_newest() noexcept;
  /// Makes the older half of the private part public.
  void publish() noexcept;
  /// Makes the newer half of the public part private. False: there is none.
  bool take_back() noexcept;

  static constexpr std::size_t cache_line = 64;
  alignas(cache_line) atomic<std::uint64_t> word_{0};
  alignas(cache_line) std::uint32_t bottom_ = 0;  // here begins what only the owner touches
  std::uint32_t split_ = 0;
  PublishedFn published_;
  void* data_;
  alignas(cache_line) atomic<Frame*> slots_[capacity] = {};
};

}  // namespace rouse::internal
