// Mutex<T>: a value that one task at a time may touch. Waiting suspends the task, not the thread,
// and the guard may be held across an await and end on another thread. Fair: who came first gets
// the lock first.
//
//   Mutex<std::vector<int>> numbers;
//   auto guard = co_await numbers.lock();
//   guard->push_back(1);                    // unlocked when `guard` ends
//
// For a few instructions without an await the standard library's mutex is faster.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/sync/lock_guard.hpp"

namespace rouse::sync {

template <class T>
class Mutex;

template <class T, class Owner = Mutex<T>*>
using MutexGuard = LockGuard<T, Owner>;

template <class T>
class Mutex {
 public:
  constexpr Mutex() = default;
  explicit constexpr Mutex(T value) : value_(std::move(value)) {}
  /// Makes the value of `args`.
  template <class... Args>
    requires std::constructible_from<T, Args...>
  explicit constexpr Mutex(Args&&... args) : value_(std::forward<Args>(args)...) {}

  [[nodiscard]] LockFuture<T, Mutex*> lock() noexcept ROUSE_LIFETIMEBOUND {
    return LockFuture<T, Mutex*>(this);
  }
  /// Locks if it is free and nobody waits for it.
  [[nodiscard]] std::optional<MutexGuard<T>> try_lock() noexcept ROUSE_LIFETIMEBOUND {
    return MutexGuard<T>::try_lock(this);
  }

  /// The same; future and guard own the mutex, through a std::shared_ptr or the like.
  template <class Owner>
  [[nodiscard]] static LockFuture<T, Owner> lock_owned(Owner mutex) noexcept {
    return LockFuture<T, Owner>(std::move(mutex));
  }
  template <class Owner>
  [[nodiscard]] static std::optional<MutexGuard<T, Owner>> try_lock_owned(Owner mutex) noexcept {
    return MutexGuard<T, Owner>::try_lock(std::move(mutex));
  }

  /// The value, for whoever has the mutex for himself.
  [[nodiscard]] T& get_mut() noexcept ROUSE_LIFETIMEBOUND { return value_; }

 private:
  template <class, class>
  friend class LockGuard;

  static constexpr std::uint32_t all_ = 1;
  Permits permits_{all_};
  T value_{};
};

template <class T>
Mutex(T) -> Mutex<T>;

}  // namespace rouse::sync
