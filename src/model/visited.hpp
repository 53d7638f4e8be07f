// Visited: the states the search has been in, and with how much of its bounds left. A state is the
// hash of its history (see execution.hpp); who comes to one again with no more left of any bound
// than before can only find what was found before.
//
// An open hash table of words: 56 bits of hash, 4 bits for each bound. With more left of one bound
// and less of the other, a state is explored again and the newer pair is remembered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/hash.hpp"

namespace rouse::model {

/// What is left of the bounds, each at most `most`.
struct Left {
  static constexpr unsigned most = 14;
  unsigned preemptions = most;
  unsigned old_values = most;
};

class Visited {
 public:
  void clear() {
    slots_.assign(1U << 12U, 0);
    count_ = 0;
  }

  /// Whether it is new, or there is more left than before; then it is remembered.
  bool enter(Hash state, Left left) {
    if (count_ * 2 >= slots_.size()) grow();
    std::uint64_t& slot = find(slots_, state);
    // One more than is left, so that no used slot is 0.
    const std::uint64_t preemptions = left.preemptions + 1;
    const std::uint64_t old_values = left.old_values + 1;
    if ((slot & 15U) >= preemptions && (slot >> 4U & 15U) >= old_values) return false;
    if (slot == 0) ++count_;
    slot = (state & ~bounds) | old_values << 4U | preemptions;
    return true;
  }

 private:
  static constexpr std::uint64_t bounds = 255;

  static std::uint64_t& find(std::vector<std::uint64_t>& slots, Hash state) noexcept {
    std::size_t at = (state >> 8U) & (slots.size() - 1);
    while (slots[at] != 0 && (slots[at] & ~bounds) != (state & ~bounds)) {
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
