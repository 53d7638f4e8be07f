// Mutex<T>: a value that one task at a time may access. Waiting suspends the task, not the thread.
// The guard may be held across an await and be destroyed on another thread.
//
// Waiters are woken in order of arrival. A task that comes while the woken one is on its way may
// take the lock before it; then the lock is handed to that waiter next, so it loses one turn at
// most.
//
//   Mutex<std::vector<int>> numbers;
//   auto guard = co_await numbers.lock();
//   guard->push_back(1);                    // unlocked when `guard` is destroyed
//
// For a few instructions without an await, the standard library's mutex is faster.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/sync/lock_guard.hpp"

namespace rouse::sync {

template <class T>
class Mutex;

/// Access to the value of a Mutex; unlocks when it is destroyed.
template <class T, class Owner = Mutex<T>*>
using MutexGuard = LockGuard<T, Owner>;

template <class T>
class Mutex {
 public:
  static constexpr const char* label = "Mutex";  ///< for a dump

  constexpr Mutex() = default;
  explicit constexpr Mutex(T value) : value_(std::move(value)) {}
  /// Constructs the value from `args`.
  template <class... Args>
    requires std::constructible_from<T, Args...>
  explicit constexpr Mutex(Args&&... args) : value_(std::forward<Args>(args)...) {}

  /// Completes with the guard when the lock is free, or is handed to it. See LockFuture.
  [[nodiscard]] LockFuture<T, Mutex*> lock() noexcept ROUSE_LIFETIMEBOUND {
    return LockFuture<T, Mutex*>(this);
  }
  /// Locks if it is free.
  [[nodiscard]] std::optional<MutexGuard<T>> try_lock() noexcept ROUSE_LIFETIMEBOUND {
    return MutexGuard<T>::try_lock(this);
  }

  /// The same; future and guard own the mutex, through a std::shared_ptr or the like.
  template <class Owner>
  [[nodiscard]] static LockFuture<T, Owner> lock_owned(Owner mutex) noexcept {
    return LockFuture<T, Owner>(std::move(mutex));
  }
  /// As try_lock; the guard owns the mutex.
  template <class Owner>
  [[nodiscard]] static std::optional<MutexGuard<T, Owner>> try_lock_owned(Owner mutex) noexcept {
    return MutexGuard<T, Owner>::try_lock(std::move(mutex));
  }

  /// The value, if nobody else uses the mutex.
  [[nodiscard]] T& get_mut() noexcept ROUSE_LIFETIMEBOUND { return value_; }

 private:
  template <class, class>
  friend class LockGuard;

  static constexpr std::uint32_t all_ = 1;
  internal::Permits permits_{all_};
  T value_{};
};

template <class T>
Mutex(T) -> Mutex<T>;

}  // namespace rouse::sync
