// StableVector<T>: grows at its end without moving its elements: replaces std::deque, whose header
// is large.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "rouse/base/internal/box.hpp"
#include "rouse/base/internal/construct.hpp"

namespace rouse::internal {

template <class T>
class StableVector {
 public:
  StableVector() noexcept = default;
  StableVector(StableVector&& other) noexcept
      : chunks_(std::move(other.chunks_)), size_(std::exchange(other.size_, 0)) {}
  ~StableVector() {
    while (size_ > 0) destroy(&(*this)[--size_]);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept {
    return chunks_[i / chunk_size]->slots[i % chunk_size].value;
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == chunks_.size() * chunk_size) chunks_.push_back(make_box<Chunk>());
    T& added = *construct(&(*this)[size_], std::forward<Args>(args)...);
    ++size_;
    return added;
  }

 private:
  static constexpr std::size_t chunk_size = 16;
  union Slot {
    Slot() noexcept {}
    ~Slot() {}
    T value;
  };
  struct Chunk {
    Slot slots[chunk_size];
  };

  std::vector<Box<Chunk>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace rouse::internal
