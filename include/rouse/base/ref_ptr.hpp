// RefPtr<T>: a shared owner whose reference count lives inside the object. One pointer wide, and a
// raw pointer can be turned back into an owner, which a waker's data pointer needs.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "rouse/base/atomic.hpp"

namespace rouse {

/// Base of everything held by RefPtr: `struct Thing : RefCounted<Thing>`. Starts with one owner.
template <class Derived>
class RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  /// ORDER: relaxed; whoever adds an owner holds one already, nothing is published.
  void add_ref() const noexcept { count_.fetch_add(1, memory_order_relaxed); }

  /// Drops one reference; the last one destroys the object.
  void release() const noexcept {
    // ORDER: acq_rel; release publishes this owner's writes, acquire lets the last owner see all.
    if (count_.fetch_sub(1, memory_order_acq_rel) == 1) delete static_cast<const Derived*>(this);
  }

  /// Whether the caller, who is an owner, is the only one.
  [[nodiscard]] bool has_one_owner() const noexcept {
    // ORDER: acquire; sees what the others did before they left.
    return count_.load(memory_order_acquire) == 1;
  }

 protected:
  RefCounted() = default;
  ~RefCounted() = default;

 private:
  mutable atomic<std::uint32_t> count_{1};
};

template <class T>
class RefPtr {
 public:
  RefPtr() noexcept = default;
  RefPtr(std::nullptr_t) noexcept {}
  RefPtr(const RefPtr& other) noexcept : ptr_(other.ptr_) {
    if (ptr_) ptr_->add_ref();
  }
  RefPtr(RefPtr&& other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {}
  template <class U>
    requires std::convertible_to<U*, T*>
  RefPtr(RefPtr<U> other) noexcept : ptr_(other.leak()) {}
  RefPtr& operator=(RefPtr other) noexcept {
    std::swap(ptr_, other.ptr_);
    return *this;
  }
  ~RefPtr() {
    if (ptr_) ptr_->release();
  }

  /// Takes over a reference that was counted before, e.g. by `leak`.
  static RefPtr adopt(T* counted) noexcept {
    RefPtr p;
    p.ptr_ = counted;
    return p;
  }
  /// Adds an owner to a living object.
  static RefPtr share(T* living) noexcept {
    if (living) living->add_ref();
    return adopt(living);
  }
  /// Hands the counted reference to the caller: pair with `adopt`.
  [[nodiscard]] T* leak() noexcept { return std::exchange(ptr_, nullptr); }

  /// Null if it owns nothing.
  T* get() const noexcept { return ptr_; }
  T& operator*() const noexcept { return *ptr_; }
  T* operator->() const noexcept { return ptr_; }
  explicit operator bool() const noexcept { return ptr_ != nullptr; }
  friend bool operator==(const RefPtr&, const RefPtr&) noexcept = default;

 private:
  T* ptr_ = nullptr;
};

/// Creates a T, and its first owner.
template <class T, class... Args>
RefPtr<T> make_ref(Args&&... args) {
  return RefPtr<T>::adopt(new T(std::forward<Args>(args)...));
}

}  // namespace rouse
