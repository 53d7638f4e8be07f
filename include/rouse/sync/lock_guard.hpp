// What Mutex and RwLock share: LockGuard, which gives access to the value while it lives, and
// LockFuture, which waits for one.
//
// A lock has members `permits_`, which is its first, `value_` and `all_`: the number of permits
// that make up the whole lock. Access to a const value takes one permit, to a mutable one all.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/future.hpp"
#include "rouse/sync/internal/permits.hpp"

namespace rouse::sync {

/// Owner is a pointer to the lock: a plain one, or a smart one that keeps the lock alive.
template <class Value, class Owner>
class [[nodiscard("unlocked at once: keep the guard in a variable")]] LockGuard {
 public:
  /// Others may have the same access at the same time.
  static constexpr bool is_shared = std::is_const_v<Value>;

  /// For a lock whose permits were taken for it.
  explicit LockGuard(Owner locked) noexcept : lock_(std::move(locked)) {}
  /// It may go to another task: so nobody knows any more which task has the lock.
  LockGuard(LockGuard&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {
    forget_holder();
  }
  LockGuard& operator=(LockGuard other) noexcept {
    std::swap(lock_, other.lock_);
    forget_holder();
    return *this;
  }
  ~LockGuard() { unlock(); }

  Value& operator*() const noexcept ROUSE_LIFETIMEBOUND { return get(); }
  Value* operator->() const noexcept ROUSE_LIFETIMEBOUND { return &get(); }

  /// Unlocks early; the guard is empty afterwards.
  void unlock() noexcept {
    const Owner lock = std::exchange(lock_, nullptr);
    if (!lock) return;
    if constexpr (is_shared) {
      lock->permits_.give(1);
    } else {
      lock->permits_.set_holder(0);
      lock->permits_.give_to_none(lock->all_);
    }
  }

  /// Keeps reading, and no writer gets in between.
  [[nodiscard]] LockGuard<const Value, Owner> downgrade() && noexcept {
    static_cast<void>(get());
    lock_->permits_.set_holder(0);
    lock_->permits_.give(lock_->all_ - 1);
    return LockGuard<const Value, Owner>(std::exchange(lock_, nullptr));
  }

  /// As if moved, to who awaited it: see base/internal/construct.hpp.
  [[nodiscard]] LockGuard handed_on() && noexcept {
    return LockGuard(std::exchange(lock_, nullptr));
  }
  /// Locks if that needs no waiting. For the locks.
  [[nodiscard]] static std::optional<LockGuard> try_lock(Owner lock) noexcept {
    internal::Permits& permits = lock->permits_;
    if (!(is_shared ? permits.try_take(1) : permits.try_take_all(lock->all_))) return std::nullopt;
    return std::optional<LockGuard>(std::in_place, std::move(lock));
  }
  /// What the future of the lock waits for. For the locks.
  static internal::Permits& permits(const Owner& lock) noexcept { return lock->permits_; }
  static internal::Acquiring acquire(const Owner& lock) noexcept {
    return internal::Acquiring(is_shared ? 1 : lock->all_, !is_shared);
  }

 private:
  Value& get() const noexcept {
    ROUSE_ASSERT(lock_, "use of a guard that was unlocked or moved from: lock again");
    return lock_->value_;
  }
  /// For a dump. Of an owning guard nobody ever knows: see LockFuture::poll.
  void forget_holder() const noexcept {
    if constexpr (!is_shared && std::is_pointer_v<Owner>) {
      if (lock_) lock_->permits_.set_holder(0);
    }
  }

  Owner lock_;
};

/// Completes when the lock is held.
/// Cancel safety: dropping it gives up its place in the queue; if it was already woken or given the
/// lock, the next waiter is.
/// Threads: any.
template <class Value, class Owner>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] LockFuture {
 public:
  using Output = LockGuard<Value, Owner>;

  explicit LockFuture(Owner lock) noexcept
      : lock_(std::move(lock)), acquiring_(Output::acquire(lock_)) {}
  LockFuture(LockFuture&&) noexcept = default;
  ~LockFuture() {
    if (!acquiring_.is_fresh()) Output::permits(lock_).leave(acquiring_);
  }

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(lock_, "a future of a lock was polled again after it was ready: lock anew");
    const std::uint32_t task_tag = cx.task_tag();  // now: its load is shared with the budget's
    // A lock is never closed.
    if (Output::permits(lock_).template poll_take<!Output::is_shared>(acquiring_, cx).is_pending())
      return pending;
    Owner lock = std::exchange(lock_, nullptr);
    // An owning guard is made to be passed on: nobody knows which task will have it.
    if constexpr (!Output::is_shared && std::is_pointer_v<Owner>)
      Output::permits(lock).set_holder(task_tag);
    return Poll<Output>::ready(std::move(lock));  // makes the guard where it is
  }
  /// A plain pointer does not keep the lock alive.
  [[nodiscard]] bool borrows() const noexcept { return std::is_pointer_v<Owner>; }
  /// For a dump: see base/shape.hpp.
  static constexpr auto shape() noexcept {
    // The first word of a smart pointer says which lock it is, no more.
    constexpr auto held = Output::is_shared ? sight::Wait::shared : sight::Wait::lock;
    constexpr auto kind = std::is_pointer_v<Owner> ? held : sight::Wait::permits;
    using Lock = std::remove_cvref_t<decltype(*lock_)>;
    return internal::describe<LockFuture, kind>(Lock::label, 0, &LockFuture::lock_);
  }

 private:
  Owner lock_;
  internal::Acquiring acquiring_;
};

}  // namespace rouse::sync
