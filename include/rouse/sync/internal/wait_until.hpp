// How a future waits for a condition that a primitive's lock guards, and how all waiters are told
// to check again. For primitives whose notifications carry nothing: losing one with a dropped
// future does no harm, because the condition stays.
#pragma once

#include <utility>

#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/core/context.hpp"
#include "rouse/sync/internal/wait_list.hpp"

namespace rouse::internal {

/// The future that owns `waiter` waits no more: fresh again. Its waker, if it was not woken.
inline Waker take_back(SpinLock& lock, WaitList& waiters, Waiter& waiter) noexcept {
  Waker waker;
  if (waiter.is_fresh()) return waker;
  SpinGuard guard(lock);
  if (waiters.remove(waiter, waker)) return waker;
  guard.unlock();
  waiter.wait_until_notified();
  waiter.reset();
  return waker;
}
inline void stop_waiting(SpinLock& lock, WaitList& waiters, Waiter& waiter) noexcept {
  take_back(lock, waiters, waiter);
}
/// The same when the owner of `waiter` moves: the waiter is woken, and must poll it at its new
/// place.
inline void wake_and_stop_waiting(SpinLock& lock, WaitList& waiters, Waiter& waiter) noexcept {
  if (Waker waker = take_back(lock, waiters, waiter)) std::move(waker).wake();
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

/// Notifies all current waiters. The lock is held; it is released here, and all are woken after
/// that.
inline void notify_all_and_unlock(SpinLock& lock, WaitList& waiters) noexcept {
  if (waiters.empty()) return lock.unlock();
  WakeBatch batch;
  WaitList all;
  waiters.move_to(all);
  for (;;) {
    while (!all.empty() && !batch.is_full()) batch.take(all.first());
    const bool more = !all.empty();
    lock.unlock();
    batch.wake_all();
    if (!more) return;
    lock.lock();  // meanwhile some may have gone by themselves
  }
}

}  // namespace rouse::internal
