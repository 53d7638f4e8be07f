// Waiter and WaitList: who waits for a primitive, in the order they came. A Waiter is a member of
// the future that waits, so waiting allocates nothing, and leaving from the middle costs the same
// as from the front.
//
//   fresh --push--> waiting --take--> notified
//              '----remove----> fresh
//
// Invariants:
//  - The list and all but `is_notified` of its waiters belong to whoever holds the primitive's
//    SpinLock.
//  - `take` is the last that the notifier does with a waiter: the moment it is notified, its future
//    may be ready on another thread and gone.
//  - Wakers run foreign code when they are cloned, woken or dropped, and that may come back to the
//    primitive. So they are cloned before the lock is taken, and woken and dropped after it was
//    given back: `take` hands the waker out, WakeBatch keeps many until then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/spin_lock.hpp"
#include "rouse/core/context.hpp"

namespace rouse::sync {

/// A place in a circular list.
class WaitLink {
 public:
  constexpr WaitLink() noexcept : prev_(this), next_(this) {}
  WaitLink(const WaitLink&) = delete;
  WaitLink& operator=(const WaitLink&) = delete;

 protected:
  ~WaitLink() = default;

 private:
  friend class WaitList;
  void insert_before(WaitLink& next) noexcept {
    next_ = &next;
    prev_ = std::exchange(next.prev_, this);
    prev_->next_ = this;
  }
  void unlink() noexcept {
    prev_->next_ = next_;
    next_->prev_ = prev_;
  }

  WaitLink* prev_;
  WaitLink* next_;
};

/// Derive from it what a waiter of some primitive has besides.
class Waiter : public WaitLink {
 public:
  Waiter() noexcept = default;
  /// A future may be moved until its first poll: its waiter is fresh then.
  Waiter(Waiter&& other) noexcept : WaitLink() {
    ROUSE_ASSERT(other.is_fresh(),
                 "a future was moved after its first poll: move it before, or keep it in a "
                 "rouse::AnyFuture, which may be moved at any time");
  }

  // The future's, without the lock.
  [[nodiscard]] bool is_fresh() const noexcept { return load() == State::fresh; }
  [[nodiscard]] bool is_notified() const noexcept { return load() == State::notified; }
  /// What it was notified of is taken: the future may wait again.
  void reset() noexcept { state_.store(State::fresh, memory_order_relaxed); }

 protected:
  ~Waiter() = default;

 private:
  friend class WaitList;
  enum class State : std::uint8_t { fresh, waiting, notified };
  // ORDER: acquire; sees what the notifier wrote before `take`.
  State load() const noexcept { return state_.load(memory_order_acquire); }

  Waker waker_;
  atomic<State> state_{State::fresh};
};

/// Every member but `keep_waker` is for whoever holds the primitive's lock.
class WaitList : WaitLink {
 public:
  constexpr WaitList() noexcept = default;
  ~WaitList() {
    ROUSE_ASSERT(is_empty(),
                 "something was destroyed while a future waits for it: a mutex, a semaphore or the "
                 "like must outlive all futures that it gave");
  }

  [[nodiscard]] bool is_empty() const noexcept { return next_ == this; }

  /// The one that came first; there must be one. `W` is what all waiters of this list are.
  template <class W = Waiter>
  [[nodiscard]] W& first() noexcept {
    return static_cast<W&>(*next_);
  }

  /// Lets `waiter`, which is fresh, wait as the last.
  void push(Waiter& waiter, Waker waker) noexcept {
    waiter.waker_ = std::move(waker);  // it had none: nothing is dropped
    waiter.state_.store(Waiter::State::waiting, memory_order_relaxed);
    waiter.insert_before(*this);
  }

  /// Notifies a waiter of this list. The caller wakes the waker once the lock is given back, and
  /// touches the waiter no more.
  [[nodiscard]] Waker take(Waiter& waiter) noexcept {
    waiter.unlink();
    Waker waker = std::move(waiter.waker_);
    // ORDER: release; publishes what the notifier wrote to the future that sees it.
    waiter.state_.store(Waiter::State::notified, memory_order_release);
    return waker;
  }

  /// The future gives up, or found what it wanted. Fresh again; the caller drops the waker once the
  /// lock is given back. A waiter that does not wait stays as it is.
  [[nodiscard]] Waker remove(Waiter& waiter) noexcept {
    if (waiter.load() != Waiter::State::waiting) return Waker();
    waiter.unlink();
    waiter.state_.store(Waiter::State::fresh, memory_order_relaxed);
    return std::move(waiter.waker_);
  }

  /// Moves all waiters to `other`, which is empty. They can be taken and removed there as here: so
  /// those who come meanwhile are told apart from those who were there.
  void move_to(WaitList& other) noexcept {
    if (is_empty()) return;
    other.insert_before(*this);
    unlink();
    prev_ = next_ = this;
  }

  /// For a future that is polled again while it waits: it is the latest waker that counts. False:
  /// the waiter was notified meanwhile. Takes the primitive's lock itself.
  static bool keep_waker(SpinLock& lock, Waiter& waiter, const Context& cx) {
    {
      const SpinGuard guard(lock);
      if (waiter.load() != Waiter::State::waiting) return false;
      if (waiter.waker_.will_wake(cx.waker())) return true;
    }
    Waker waker = cx.waker();
    const SpinGuard guard(lock);
    if (waiter.load() != Waiter::State::waiting) return false;
    std::swap(waiter.waker_, waker);
    return true;  // the guard goes first, then the old waker
  }
};

/// Wakers to be woken once the lock is given back.
class WakeBatch {
 public:
  WakeBatch() noexcept {}
  WakeBatch(const WakeBatch&) = delete;
  WakeBatch& operator=(const WakeBatch&) = delete;
  ~WakeBatch() { wake_all(); }

  /// Wake them before there are more.
  [[nodiscard]] bool is_full() const noexcept { return size_ == capacity; }
  void push(Waker waker) noexcept { new (&wakers_[size_++]) Waker(std::move(waker)); }
  void wake_all() noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      std::move(wakers_[i]).wake();
      wakers_[i].~Waker();
    }
    size_ = 0;
  }

 private:
  static constexpr std::size_t capacity = 32;
  std::size_t size_ = 0;
  union {
    Waker wakers_[capacity];
  };
};

}  // namespace rouse::sync
