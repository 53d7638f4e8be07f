// RwLock<T>: a value that many tasks may read or one may write. Readers and writers are served in
// order of arrival, so a reader waits behind a waiting writer. Only a writer that comes while
// another one was woken and is on its way may write before it, and only once: see Mutex.
//
//   RwLock<Config> config;
//   { auto reading = co_await config.read();  use(reading->name); }
//   { auto writing = co_await config.write(); writing->name = "new"; }
//
// A task must not read again while it holds a read guard: a writer that arrived in between waits
// for the first guard, and the second read would wait for that writer.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/sync/lock_guard.hpp"

namespace rouse::sync {

template <class T>
class RwLock;

/// Shared access to the value of a RwLock; unlocks when it is destroyed.
template <class T, class Owner = RwLock<T>*>
using ReadGuard = LockGuard<const T, Owner>;
/// `std::move(guard).downgrade()` turns it into a ReadGuard.
template <class T, class Owner = RwLock<T>*>
using WriteGuard = LockGuard<T, Owner>;

/// How many may read a RwLock at a time.
class MaxReaders {
 public:
  explicit constexpr MaxReaders(std::uint32_t n = UINT32_MAX >> 3) noexcept : count_(n) {
    ROUSE_ASSERT(n > 0, "a RwLock with MaxReaders(0) could not be locked: allow at least 1");
  }
  /// How many.
  [[nodiscard]] constexpr std::uint32_t count() const noexcept { return count_; }

 private:
  std::uint32_t count_;
};

template <class T>
class RwLock {
 public:
  static constexpr const char* label = "RwLock";  ///< for a dump

  constexpr RwLock() = default;
  explicit constexpr RwLock(T value) : value_(std::move(value)) {}
  /// Constructs the value from `args`.
  template <class... Args>
    requires std::constructible_from<T, Args...>
  explicit constexpr RwLock(Args&&... args) : value_(std::forward<Args>(args)...) {}
  template <class... Args>
    requires std::constructible_from<T, Args...>
  explicit constexpr RwLock(MaxReaders readers, Args&&... args)
      : permits_(readers.count()), all_(readers.count()), value_(std::forward<Args>(args)...) {}

  /// Completes with a read guard when no writer holds the lock or came before. See LockFuture.
  [[nodiscard]] LockFuture<const T, RwLock*> read() noexcept ROUSE_LIFETIMEBOUND {
    return LockFuture<const T, RwLock*>(this);
  }
  /// Completes with a write guard when the lock is free, or is handed to it. See LockFuture.
  [[nodiscard]] LockFuture<T, RwLock*> write() noexcept ROUSE_LIFETIMEBOUND {
    return LockFuture<T, RwLock*>(this);
  }
  /// Locks if nobody writes or waits.
  [[nodiscard]] std::optional<ReadGuard<T>> try_read() noexcept ROUSE_LIFETIMEBOUND {
    return ReadGuard<T>::try_lock(this);
  }
  /// Locks if nobody reads or writes.
  [[nodiscard]] std::optional<WriteGuard<T>> try_write() noexcept ROUSE_LIFETIMEBOUND {
    return WriteGuard<T>::try_lock(this);
  }

  /// The same; future and guard own the lock, through a std::shared_ptr or the like.
  template <class Owner>
  [[nodiscard]] static LockFuture<const T, Owner> read_owned(Owner lock) noexcept {
    return LockFuture<const T, Owner>(std::move(lock));
  }
  /// As `write`; future and guard own the lock.
  template <class Owner>
  [[nodiscard]] static LockFuture<T, Owner> write_owned(Owner lock) noexcept {
    return LockFuture<T, Owner>(std::move(lock));
  }
  /// As try_read; the guard owns the lock.
  template <class Owner>
  [[nodiscard]] static std::optional<ReadGuard<T, Owner>> try_read_owned(Owner lock) noexcept {
    return ReadGuard<T, Owner>::try_lock(std::move(lock));
  }
  /// As try_write; the guard owns the lock.
  template <class Owner>
  [[nodiscard]] static std::optional<WriteGuard<T, Owner>> try_write_owned(Owner lock) noexcept {
    return WriteGuard<T, Owner>::try_lock(std::move(lock));
  }

  /// The value, if nobody else uses the lock.
  [[nodiscard]] T& get_mut() noexcept ROUSE_LIFETIMEBOUND { return value_; }

 private:
  template <class, class>
  friend class LockGuard;

  internal::Permits permits_{MaxReaders().count()};
  const std::uint32_t all_ = MaxReaders().count();
  T value_{};
};

template <class T>
RwLock(T) -> RwLock<T>;

}  // namespace rouse::sync
