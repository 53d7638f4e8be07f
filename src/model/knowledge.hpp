// What a thread of the model knows: how far it has seen each location's modification order, and
// which events of other threads happened before it.
//
// The two are kept apart because sequentially consistent fences make a thread see more (View)
// without making anything happen before (Clock): a race stays a race.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rouse::model {

inline constexpr std::size_t max_threads = 12;

using ThreadIndex = std::uint32_t;

/// How many events of each thread happened before: a vector clock.
struct Clock {
  std::array<std::uint32_t, max_threads> at{};

  void join(const Clock& other) noexcept {
    for (std::size_t i = 0; i < max_threads; ++i) {
      if (other.at[i] > at[i]) at[i] = other.at[i];
    }
  }
  /// Whether all that `other` counts is counted here.
  [[nodiscard]] bool covers(const Clock& other) const noexcept {
    for (std::size_t i = 0; i < max_threads; ++i) {
      if (other.at[i] > at[i]) return false;
    }
    return true;
  }
  /// Whether a thread other than `self` has an event in `other` that did not happen before.
  [[nodiscard]] ThreadIndex first_uncovered(const Clock& other, ThreadIndex self) const noexcept {
    for (ThreadIndex i = 0; i < max_threads; ++i) {
      if (i != self && other.at[i] > at[i]) return i;
    }
    return max_threads;
  }
};

/// A place in a modification order. Later is greater; there is always room between two.
using Place = std::uint64_t;

/// For each location the newest message that was seen: none older may be read any more.
class View {
 public:
  [[nodiscard]] Place operator[](std::size_t location) const noexcept {
    return location < places_.size() ? places_[location] : 0;
  }
  void raise(std::size_t location, Place place) {
    if (location >= places_.size()) places_.resize(location + 8, 0);
    if (places_[location] < place) places_[location] = place;
  }
  void join(const View& other) {
    if (other.places_.size() > places_.size()) places_.resize(other.places_.size(), 0);
    for (std::size_t i = 0; i < other.places_.size(); ++i) {
      if (places_[i] < other.places_[i]) places_[i] = other.places_[i];
    }
  }

 private:
  std::vector<Place> places_;
};

struct Knowledge {
  View view;
  Clock clock;

  void join(const Knowledge& other) {
    view.join(other.view);
    clock.join(other.clock);
  }
};

}  // namespace rouse::model
