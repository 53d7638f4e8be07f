// How a future waits for a condition that a primitive's lock guards, and how all who wait are told
// to look again. For primitives whose notifications carry nothing: one that is lost with a dropped
// future is no loss, because the condition stays.
#pragma once

#include <utility>

#include "rouse/base/spin_lock.hpp"
#include "rouse/core/context.hpp"
#include "rouse/sync/wait_list.hpp"

namespace rouse::sync {

/// The future that owns `waiter` waits no more.
inline void stop_waiting(SpinLock& lock, WaitList& waiters, Waiter& waiter) noexcept {
  if (waiter.is_fresh()) return;
  {
    Waker dropped;
    const SpinGuard guard(lock);
    dropped = waiters.remove(waiter);
  }
  waiter.reset();
}

/// The same when the owner of `waiter` moves: whoever waits is woken, to ask it at its new place.
inline void wake_and_stop_waiting(SpinLock& lock, WaitList& waiters, Waiter& waiter) noexcept {
  if (waiter.is_fresh()) return;
  Waker waker;
  {
    const SpinGuard guard(lock);
    waker = waiters.remove(waiter);
  }
  waiter.reset();
  if (waker) std::move(waker).wake();
}

/// True: `condition()` holds and `waiter` is fresh. False: `waiter` waits, and `cx` is woken by the
/// next `notify_all`. Whoever makes the condition true does so under the lock, or before
/// `notify_all` takes it. `condition` is called with and without the lock, and must not call
/// foreign code.
template <class Condition>
bool wait_until(SpinLock& lock, WaitList& waiters, Waiter& waiter, Context& cx,
                Condition condition) {
  while (!condition()) {
    if (waiter.is_notified()) waiter.reset();
    if (!waiter.is_fresh()) {
      if (WaitList::keep_waker(lock, waiter, cx)) return false;
      continue;  // notified meanwhile
    }
    Waker waker = cx.waker();
    const SpinGuard guard(lock);
    if (condition()) return true;
    waiters.push(waiter, std::move(waker));
    return false;
  }
  stop_waiting(lock, waiters, waiter);
  return true;
}

/// Notifies all who wait now. The lock is held; here it is given back, and all are woken after
/// that. The primitive is not touched once the last of them was notified and the lock given back.
inline void notify_all_and_unlock(SpinLock& lock, WaitList& waiters) noexcept {
  if (waiters.is_empty()) return lock.unlock();
  WakeBatch batch;
  WaitList all;
  waiters.move_to(all);
  while (!all.is_empty()) {
    if (batch.is_full()) {
      lock.unlock();
      batch.wake_all();
      lock.lock();
      continue;  // meanwhile some may have gone by themselves
    }
    if (Waker waker = all.take(all.first())) batch.push(std::move(waker));
  }
  lock.unlock();
}

}  // namespace rouse::sync
