// Notify, once somebody waits.
#include "rouse/sync/notify.hpp"

#include <utility>

#include "rouse/sync/internal/wait_until.hpp"

#include "sync/wake_batch.hpp"

namespace rouse::sync {

void Notify::notify_waiting(Cause cause) noexcept {
  internal::WakeBatch batch;
  {
    const internal::SpinGuard guard(lock_);
    State state = state_.load(memory_order_relaxed);
    if (keep_permit(state)) return;
    auto& waiter = cause == Cause::last ? waiters_.last<Waiting>() : waiters_.first<Waiting>();
    waiter.cause = cause;
    batch.take(waiter);
    leave_waiting_if_last();
  }
  batch.wake_all();
}

void Notify::notify_all_waiting() noexcept {
  lock_.lock();
  State state = state_.load(memory_order_relaxed);
  // ORDER: release; as in notify_waiters. No longer `waiting`: all leave.
  while (!state_.compare_exchange_weak(state,
                                       (phase(state) == waiting ? calls(state) : state) + one_call,
                                       memory_order_release, memory_order_relaxed)) {
  }
  internal::notify_all_and_unlock(lock_, waiters_);
}

/// ORDER: release; the count in it was seen under the lock, so this publishes what it stands for.
void Notify::leave_waiting_if_last() noexcept {
  const State state = state_.load(memory_order_relaxed);
  if (waiters_.empty() && phase(state) == waiting) state_.store(calls(state), memory_order_release);
}

bool Notify::take_or_wait(Waiting& waiter, State made_at, Waker waker) noexcept {
  const internal::SpinGuard guard(lock_);
  State state = load();
  while (phase(state) != waiting) {
    if (calls(state) != made_at) return true;
    const State next = phase(state) == permit ? empty : waiting;
    // ORDER: acquire; sees what the notifier did.
    if (state_.compare_exchange_weak(state, calls(state) | next, memory_order_acquire,
                                     memory_order_acquire)) {
      if (next == empty) return true;
      break;
    }
  }
  if (calls(state) != made_at) return true;
  waiters_.push(waiter, std::move(waker));
  return false;
}

bool Notify::poll_waiting(Waiting& waiter, State made_at, Context& cx) {
  if (waiter.is_notified()) return true;
  if (calls(load()) == made_at && internal::WaitList::keep_waker(lock_, waiter, cx)) return false;
  withdraw(waiter);
  return true;
}

void Notify::withdraw(Waiting& waiter) noexcept {
  Waker dropped;
  internal::SpinGuard guard(lock_);
  if (waiters_.remove(waiter, dropped)) return leave_waiting_if_last();
  guard.unlock();
  waiter.wait_until_notified();
}

void Notify::abandon(Waiting& waiter) noexcept {
  withdraw(waiter);
  if (waiter.is_notified() && waiter.cause != Cause::all) notify(waiter.cause);
}

}  // namespace rouse::sync
