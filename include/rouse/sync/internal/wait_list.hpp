// Waiter and WaitList: who waits for a primitive, in the order they came. A Waiter is a member of
// the future that waits, so waiting allocates nothing, and leaving from the middle costs the same
// as from the front. WakeBatch is how waiters are notified and woken.
//
//   fresh --push--> waiting --take--> taken --notify--> notified
//              '----remove----> fresh
//
// Invariants:
//  - The list and all but `is_notified` of its waiters belong to whoever holds the primitive's
//    SpinLock. A taken waiter is the notifier's; its future, if it is dropped then, waits those few
//    instructions for it to become notified.
//  - Wakers run foreign code when they are cloned, woken or dropped, and that may come back to the
//    primitive. So they are cloned before the lock is taken, and woken and dropped after it was
//    given back.
//  - Waiters become notified after the lock was given back: from then on their futures may be ready
//    on another thread, and gone, and so may the primitive, as when a task that waits for the last
//    of its helpers returns. A notifier that woke no more than one batch never touches it again.
//  - All of a batch are notified before the first is woken: whoever is woken may drop the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/attributes.hpp"
#include "rouse/base/cell.hpp"
#include "rouse/base/spin_lock.hpp"
#include "rouse/core/context.hpp"

namespace rouse::sync {

/// A place in a circular list.
class WaitLink {
 public:
  /// Linked nowhere: to be inserted first.
  WaitLink() noexcept {}
  WaitLink(const WaitLink&) = delete;
  WaitLink& operator=(const WaitLink&) = delete;

  void insert_before(WaitLink& next) noexcept {
    next_ = &next;
    prev_ = std::exchange(next.prev_, this);
    prev_->next_ = this;
  }
  void unlink() noexcept {
    prev_->next_ = next_;
    next_->prev_ = prev_;
  }

 protected:
  ~WaitLink() = default;

  explicit constexpr WaitLink(std::nullptr_t) noexcept : prev_(this), next_(this) {}

  WaitLink* prev_;
  WaitLink* next_;
};

/// Derive from it what a waiter of some primitive has besides. Most futures are ready at once: so a
/// fresh waiter is nothing but its state, the rest is made when it begins to wait.
class Waiter : public WaitLink {
 public:
  Waiter() noexcept {}
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
  /// The future did not take it yet: dropped now, it passes it on.
  void keep_notified() noexcept { state_.store(State::notified, memory_order_relaxed); }
  /// For a waiter that does not wait in the list any more: its notifier is about to be done with
  /// it.
  void wait_until_notified() const noexcept {
    for (unsigned attempt = 0; !is_notified(); ++attempt) back_off(attempt);
  }

 protected:
  ~Waiter() {}

 private:
  friend class WaitList;
  enum class State : std::uint8_t { fresh, waiting, taken, notified };
  // ORDER: acquire; sees what the notifier wrote before.
  State load() const noexcept { return state_.load(memory_order_acquire); }

  using KeptWaker = Cell<Waker>;
  Waker take_waker() noexcept {
    Waker waker = std::move(waker_.write());
    waker_.~KeptWaker();
    return waker;
  }

  union {
    KeptWaker waker_;  // while it waits or is taken
  };
  atomic<State> state_{State::fresh};
};

/// Every member but `keep_waker` is for whoever holds the primitive's lock.
class WaitList : WaitLink {
 public:
  class WakeBatch;

  constexpr WaitList() noexcept : WaitLink(nullptr) {}
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
  /// The one that came last; there must be one.
  template <class W = Waiter>
  [[nodiscard]] W& last() noexcept {
    return static_cast<W&>(*prev_);
  }

  /// Lets `waiter`, which is fresh, wait as the last. It is not woken if `waker` is empty.
  void push(Waiter& waiter, Waker waker) noexcept {
    new (&waiter.waker_) Waiter::KeptWaker(std::move(waker));
    waiter.state_.store(Waiter::State::waiting, memory_order_relaxed);
    waiter.insert_before(*this);
  }

  /// The future gives up, or found what it wanted: fresh again. Its waker goes to `dropped`, for
  /// the caller to drop once the lock is given back. False: it was taken; `wait_until_notified`.
  [[nodiscard]] bool remove(Waiter& waiter, Waker& dropped) noexcept {
    if (waiter.load() != Waiter::State::waiting) return false;
    waiter.unlink();
    waiter.state_.store(Waiter::State::fresh, memory_order_relaxed);
    dropped = waiter.take_waker();
    return true;
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
    if (has_waker(lock, waiter, cx)) return true;
    Waker waker = cx.waker();
    {
      const SpinGuard guard(lock);
      if (waiter.load() == Waiter::State::waiting) {
        std::swap(waiter.waker_.write(), waker);
        return true;  // the guard ends first, then the old waker
      }
    }
    waiter.wait_until_notified();
    return false;
  }

 private:
  static bool has_waker(SpinLock& lock, const Waiter& waiter, const Context& cx) noexcept {
    const SpinGuard guard(lock);
    return waiter.load() == Waiter::State::waiting && waiter.waker_.read().will_wake(cx.waker());
  }
};

/// Waiters to be notified and woken once the lock is given back.
class WaitList::WakeBatch {
 public:
  WakeBatch() noexcept {}
  WakeBatch(const WakeBatch&) = delete;
  WakeBatch& operator=(const WakeBatch&) = delete;
  ~WakeBatch() { ROUSE_ASSERT(size_ == 0, "a WakeBatch was not woken"); }

  /// Wake them before there are more.
  [[nodiscard]] bool is_full() const noexcept { return size_ == capacity; }

  /// Takes a waiter out of the list where it waits, under the lock.
  void take(Waiter& waiter) noexcept {
    waiter.unlink();
    waiter.state_.store(Waiter::State::taken, memory_order_relaxed);
    waiters_[size_++] = &waiter;
  }

  /// Notifies and wakes them. Without the lock.
  void wake_all() noexcept {
    Wakers wakers;
    for (std::size_t i = 0; i < size_; ++i) {
      Waiter& waiter = *waiters_[i];
      new (&wakers.at[i]) Waker(waiter.take_waker());
      // ORDER: release; publishes what the notifier wrote to the future that sees it.
      waiter.state_.store(Waiter::State::notified, memory_order_release);
    }
    const std::size_t size = std::exchange(size_, 0);
    for (std::size_t i = 0; i < size; ++i) {
      if (wakers.at[i]) std::move(wakers.at[i]).wake();
      wakers.at[i].~Waker();
    }
  }

 private:
  static constexpr std::size_t capacity = model_checker ? 2 : 32;  // a model is to see it full
  /// Made one by one.
  union Wakers {
    Wakers() noexcept {}
    ~Wakers() {}
    Waker at[capacity];
  };

  std::size_t size_ = 0;
  Waiter* waiters_[capacity];
};
using WakeBatch = WaitList::WakeBatch;

}  // namespace rouse::sync
