// Visited: the states the search has been in, and with how many preemptions left. A state is the
// hash of its history (see execution.hpp); who comes to one again with no more preemptions left
// than before can only find what was found before.
//
// An open hash table of words: 60 bits of hash, 4 of preemptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/hash.hpp"

namespace rouse::model {

class Visited {
 public:
  static constexpr unsigned most_left = 14;

  void clear() {
    slots_.assign(1U << 12U, 0);
    count_ = 0;
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  /// Whether it is new, or there are more preemptions left than before; then it is remembered.
  bool enter(Hash state, unsigned preemptions_left) {
    if (count_ * 2 >= slots_.size()) grow();
    std::uint64_t& slot = find(slots_, state);
    const std::uint64_t left = preemptions_left + 1;
    if (slot != 0 && (slot & mask) >= left) return false;
    if (slot == 0) ++count_;
    slot = (state & ~mask) | left;
    return true;
  }

 private:
  static constexpr std::uint64_t mask = 15;  // never 0 in a used slot

  static std::uint64_t& find(std::vector<std::uint64_t>& slots, Hash state) noexcept {
    std::size_t at = (state >> 4U) & (slots.size() - 1);
    while (slots[at] != 0 && (slots[at] & ~mask) != (state & ~mask)) {
      at = (at + 1) & (slots.size() - 1);
    }
    return slots[at];
  }
  void grow() {
    std::vector<std::uint64_t> larger(slots_.size() * 2, 0);
    for (const std::uint64_t word : slots_) {
      if (word != 0) find(larger, word) = word;
    }
    slots_ = std::move(larger);
  }

  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(1U << 12U, 0);
  std::size_t count_ = 0;
};

}  // namespace rouse::model
