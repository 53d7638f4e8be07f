// What waiters do that wait: none of it is on a path without a wait.
#include "rouse/sync/internal/wait_list.hpp"

#include <utility>

#include "rouse/sync/internal/wait_until.hpp"

#include "sync/wake_batch.hpp"

namespace rouse::internal {
namespace {

/// Its waker, if it was not woken.
Waker take_back(SpinLock& lock, WaitList& waiters, Waiter& waiter) noexcept {
  Waker waker;
  SpinGuard guard(lock);
  if (waiters.remove(waiter, waker)) return waker;
  guard.unlock();
  waiter.wait_until_notified();
  waiter.reset();
  return waker;
}

}  // namespace

bool WaitList::keep_waker(SpinLock& lock, Waiter& waiter, const Context& cx) {
  {
    const SpinGuard guard(lock);
    if (waiter.load() == Waiter::State::waiting && waiter.waker_.read().will_wake(cx.waker())) {
      return true;
    }
  }
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

void stop_waiting(SpinLock& lock, WaitList& waiters, Waiter& waiter) noexcept {
  if (!waiter.is_fresh()) take_back(lock, waiters, waiter);
}

void wake_and_stop_waiting(SpinLock& lock, WaitList& waiters, Waiter& waiter) noexcept {
  if (waiter.is_fresh()) return;
  if (Waker waker = take_back(lock, waiters, waiter)) std::move(waker).wake();
}

void notify_all_and_unlock(SpinLock& lock, WaitList& waiters) noexcept {
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
