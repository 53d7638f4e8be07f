// Waiter and WaitList: the waiters of a primitive, in order of arrival. A Waiter is a member of the
// waiting future, so waiting allocates nothing, and leaving from the middle costs the same as from
// the front. WakeBatch notifies and wakes waiters.
//
//   fresh --push--> waiting --take--> taken --notify--> notified --push--> waiting
//              '----remove----> fresh                       '----reset----> fresh
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
#include "rouse/base/cell.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/ring.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/core/context.hpp"

namespace rouse::internal {

/// Derive from it what a waiter of some primitive needs in addition. Most futures are ready at
/// once: so a fresh waiter is nothing but its state; the rest is created when it begins to wait.
class Waiter : public RingLink {
 public:
  Waiter() noexcept {}
  /// A future may be moved until its first poll: its waiter is fresh then.
  Waiter(Waiter&& other) noexcept : RingLink() {
    ROUSE_ASSERT(other.is_fresh(),
                 "a future was moved after its first poll: move it before, or keep it in a "
                 "rouse::AnyFuture, which may be moved at any time");
  }

  // The future's, without the lock.
  [[nodiscard]] bool is_fresh() const noexcept { return load() == State::fresh; }
  [[nodiscard]] bool is_notified() const noexcept { return load() == State::notified; }
  /// The notification was consumed: the future may wait again.
  void reset() noexcept { state_.store(State::fresh, memory_order_relaxed); }
  /// The future did not consume it yet: if dropped now, it passes it on.
  void keep_notified() noexcept { state_.store(State::notified, memory_order_relaxed); }
  /// For a waiter that is no longer in the list: its notifier is about to finish with it.
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
class ROUSE_API WaitList : RingHead {
 public:
  class WakeBatch;

  constexpr WaitList() noexcept = default;
  ~WaitList() {
    ROUSE_ASSERT(empty(),
                 "something was destroyed while a future waits for it: a mutex, a semaphore or the "
                 "like must outlive all futures that it gave");
  }

  using RingHead::empty;

  /// The first waiter; there must be one. `W` is the type of all waiters of this list.
  template <class W = Waiter>
  [[nodiscard]] W& first() noexcept {
    return static_cast<W&>(*next());
  }
  /// The last waiter; there must be one.
  template <class W = Waiter>
  [[nodiscard]] W& last() noexcept {
    return static_cast<W&>(*prev());
  }

  /// Appends `waiter`, which is fresh, or puts it in front of all, when it was notified in vain. It
  /// is not woken if `waker` is empty.
  void push(Waiter& waiter, Waker waker, bool in_front = false) noexcept {
    new (&waiter.waker_) Waiter::KeptWaker(std::move(waker));
    waiter.state_.store(Waiter::State::waiting, memory_order_relaxed);
    waiter.insert_before(in_front ? *next() : *this);
  }

  /// The future gives up, or found what it wanted: fresh again. Its waker goes to `dropped`, for
  /// the caller to drop after unlocking. False: it was taken; `wait_until_notified`.
  [[nodiscard]] bool remove(Waiter& waiter, Waker& dropped) noexcept {
    if (waiter.load() != Waiter::State::waiting) return false;
    waiter.unlink();
    waiter.state_.store(Waiter::State::fresh, memory_order_relaxed);
    dropped = waiter.take_waker();
    return true;
  }

  /// Moves all waiters to `other`, which is empty. They can be taken and removed there as here: so
  /// later waiters are told apart from these.
  void move_to(WaitList& other) noexcept { RingHead::move_to(other); }

  /// For a future that is polled again while it waits: the latest waker counts. False: the waiter
  /// was notified meanwhile. Takes the primitive's lock itself.
  static bool keep_waker(SpinLock& lock, Waiter& waiter, const Context& cx);
};

}  // namespace rouse::internal
