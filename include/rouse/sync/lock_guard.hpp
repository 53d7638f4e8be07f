// What Mutex and RwLock share: LockGuard, which allows access to the value as long as it lives, and
// LockFuture, which waits for one.
//
// A lock has members `permits_`, `value_` and `all_`: the number of permits that make up the whole
// lock. Access to a const value takes one of them, to a mutable one all.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/attributes.hpp"
#include "rouse/core/future.hpp"
#include "rouse/sync/permits.hpp"

namespace rouse::sync {

/// Owner is a pointer to the lock: a plain one, or a smart one that keeps the lock alive.
template <class Value, class Owner>
class [[nodiscard("unlocked at once: keep the guard in a variable")]] LockGuard {
 public:
  /// Others may have the same access at the same time.
  static constexpr bool is_shared = std::is_const_v<Value>;

  /// Of a lock whose permits were taken for it.
  explicit LockGuard(Owner locked) noexcept : lock_(std::move(locked)) {}
  LockGuard(LockGuard&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
  LockGuard& operator=(LockGuard other) noexcept {
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~LockGuard() { unlock(); }

  Value& operator*() const noexcept ROUSE_LIFETIMEBOUND { return get(); }
  Value* operator->() const noexcept ROUSE_LIFETIMEBOUND { return &get(); }

  /// Unlocks before the guard ends, which holds nothing then.
  void unlock() noexcept {
    const Owner lock = std::exchange(lock_, nullptr);
    if (!lock) return;
    if constexpr (is_shared) {
      lock->permits_.give(1);
    } else {
      lock->permits_.give_to_none(lock->all_);
    }
  }

  /// Goes on reading, and no writer comes in between.
  [[nodiscard]] LockGuard<const Value, Owner> downgrade() && noexcept {
    static_cast<void>(get());
    lock_->permits_.give(lock_->all_ - 1);
    return LockGuard<const Value, Owner>(std::exchange(lock_, nullptr));
  }

  [[nodiscard]] static std::optional<LockGuard> try_lock(Owner lock) noexcept {
    if (!lock->permits_.try_take(needed(*lock))) return std::nullopt;
    return std::optional<LockGuard>(std::in_place, std::move(lock));
  }
  static Acquiring acquire(const Owner& lock) noexcept {
    return Acquiring(lock->permits_, needed(*lock));
  }

 private:
  static std::uint32_t needed(const auto& lock) noexcept { return is_shared ? 1 : lock.all_; }
  Value& get() const noexcept {
    ROUSE_ASSERT(lock_, "use of a guard that was unlocked or moved from: lock again");
    return lock_->value_;
  }

  Owner lock_;
};

/// Completes when the lock is held. Dropping it gives up its place in the queue, and the lock, if
/// it was given meanwhile, goes to the next. Any thread.
template <class Value, class Owner>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] LockFuture {
 public:
  using Output = LockGuard<Value, Owner>;

  explicit LockFuture(Owner lock) noexcept
      : lock_(std::move(lock)), acquiring_(Output::acquire(lock_)) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(lock_, "a future of a lock was polled again after it was ready: lock anew");
    const Poll<bool> locked = Output::is_shared ? acquiring_.poll(cx) : acquiring_.poll_all(cx);
    if (locked.is_pending()) return pending;  // a lock is never closed
    return Poll<Output>::ready(Output(std::exchange(lock_, nullptr)));
  }
  /// A plain pointer does not keep the lock alive.
  [[nodiscard]] bool borrows() const noexcept { return std::is_pointer_v<Owner>; }

 private:
  Owner lock_;
  Acquiring acquiring_;  // ends first: it may be in the lock's queue
};

}  // namespace rouse::sync
