// How a future waits for a condition that a primitive's lock guards, and how all waiters are told
// to check again. For primitives whose notifications carry nothing: losing one with a dropped
// future does no harm, because the condition stays.
#pragma once

#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/core/context.hpp"
#include "rouse/sync/internal/wait_list.hpp"

namespace rouse::internal {

/// The future that owns `waiter` waits no more: fresh again.
ROUSE_API void stop_waiting(SpinLock& lock, WaitList& waiters, Waiter& waiter) noexcept;
/// The same when the owner of `waiter` moves: the waiter is woken, and must poll it at its new
/// place.
ROUSE_API void wake_and_stop_waiting(SpinLock& lock, WaitList& waiters, Waiter& waiter) noexcept;

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
ROUSE_API void notify_all_and_unlock(SpinLock& lock, WaitList& waiters) noexcept;

}  // namespace rouse::internal
