// Box<T>: the sole owner of an object on the heap: std::unique_ptr without the streams that its
// header includes, which saves the compiler 15,000 lines.
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

namespace rouse::internal {

template <class T>
class Box {
 public:
  constexpr Box() noexcept = default;
  constexpr Box(std::nullptr_t) noexcept {}
  constexpr explicit Box(T* owned) noexcept : ptr_(owned) {}
  constexpr Box(Box&& other) noexcept : ptr_(other.release()) {}
  template <class U>
    requires std::convertible_to<U*, T*>
  constexpr Box(Box<U>&& other) noexcept : ptr_(other.release()) {}
  Box& operator=(Box&& other) noexcept {
    Box(std::move(other)).swap(*this);
    return *this;
  }
  ~Box() {
    static_assert(sizeof(T) > 0, "a Box needs to know what it destroys");
    delete ptr_;
  }

  [[nodiscard]] T* get() const noexcept { return ptr_; }
  T& operator*() const noexcept { return *ptr_; }
  T* operator->() const noexcept { return ptr_; }
  explicit operator bool() const noexcept { return ptr_ != nullptr; }
  /// Gives the object to the caller.
  [[nodiscard]] constexpr T* release() noexcept { return std::exchange(ptr_, nullptr); }
  void reset() noexcept { Box().swap(*this); }
  void swap(Box& other) noexcept { std::swap(ptr_, other.ptr_); }

 private:
  T* ptr_ = nullptr;
};

template <class T, class... Args>
Box<T> make_box(Args&&... args) {
  return Box<T>(new T(std::forward<Args>(args)...));
}

/// An array of a size that is known elsewhere.
template <class T>
class Box<T[]> {
 public:
  constexpr Box() noexcept = default;
  constexpr explicit Box(T* owned) noexcept : ptr_(owned) {}
  constexpr Box(Box&& other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {}
  Box& operator=(Box&& other) noexcept {
    Box taken(std::move(other));
    std::swap(ptr_, taken.ptr_);
    return *this;
  }
  ~Box() { delete[] ptr_; }

  [[nodiscard]] T* get() const noexcept { return ptr_; }
  T& operator[](std::size_t i) const noexcept { return ptr_[i]; }
  explicit operator bool() const noexcept { return ptr_ != nullptr; }

 private:
  T* ptr_ = nullptr;
};

}  // namespace rouse::internal
