// InplaceVector<T, N>: a vector of at most N elements that allocates nothing, like C++26's
// std::inplace_vector. For the children and outputs of `parallel_all`, where they are few.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/construct.hpp"

namespace rouse {

/// Moved from, it is empty.
template <class T, std::size_t N>
class InplaceVector {
  static_assert(N > 0, "an InplaceVector has room for at least one element");
  static constexpr bool moves_without_throwing = std::is_nothrow_move_constructible_v<T>;

 public:
  using value_type = T;

  InplaceVector() noexcept {}
  // Delegates: if a move throws, the destructor destroys those that were moved before.
  InplaceVector(InplaceVector&& other) noexcept(moves_without_throwing) : InplaceVector() {
    take(other);
  }
  InplaceVector& operator=(InplaceVector&& other) noexcept(moves_without_throwing) {
    if (this != &other) {
      clear();
      take(other);
    }
    return *this;
  }
  ~InplaceVector() { clear(); }

  /// How many elements it may have.
  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return N; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// There must be room: the program aborts if there is none.
  void push_back(T value) noexcept(moves_without_throwing) {
    ROUSE_ASSERT(size_ < N,
                 "push_back to an InplaceVector that is full: make its N larger, or use a vector");
    internal::construct(data() + size_, std::move(value));
    ++size_;
  }
  /// There must be an element.
  void pop_back() noexcept {
    ROUSE_ASSERT(size_ != 0, "pop_back of an empty InplaceVector: ask empty() before");
    internal::destroy(data() + --size_);
  }
  /// Destroys all elements, the last one first.
  void clear() noexcept {
    while (size_ != 0) pop_back();
  }

  /// Where the first element is, or would be.
  [[nodiscard]] T* data() noexcept { return elements_; }
  [[nodiscard]] const T* data() const noexcept { return elements_; }
  [[nodiscard]] T* begin() noexcept { return data(); }
  [[nodiscard]] T* end() noexcept { return data() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return data()[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data()[index]; }

 private:
  void take(InplaceVector& other) noexcept(moves_without_throwing) {
    if constexpr (moves_without_throwing) {
      size_ = std::exchange(other.size_, 0);
      // One after the other: the compiler sees that nothing is left to destroy.
      for (std::size_t i = 0; i != size_; ++i) {
        internal::construct(data() + i, std::move(other.data()[i]));
        internal::destroy(other.data() + i);
      }
    } else {
      for (T& element : other) {
        internal::construct(end(), std::move(element));
        ++size_;
      }
      other.clear();
    }
  }

  std::size_t size_ = 0;
  union {
    T elements_[N];
  };
};

}  // namespace rouse
