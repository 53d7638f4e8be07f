// What happens while somebody waits. See sync/permits.hpp.
#include "rouse/sync/permits.hpp"

#include <utility>

namespace rouse::sync {

Poll<bool> Acquiring::wait(Context& cx) noexcept {
  if (is_fresh()) return permits_->wait(*this, cx);
  if (!is_notified() && WaitList::keep_waker(permits_->lock_, *this, cx)) return pending;
  reset();
  return Poll<bool>::ready(!refused_);
}

Poll<bool> Permits::wait(Acquiring& waiter, const Context& cx) noexcept {
  Waker waker = cx.waker();
  const SpinGuard guard(lock_);
  // ORDER: acquire here and below; sees the last holder's writes, or what was done before `close`.
  std::size_t state = state_.load(memory_order_acquire);
  if ((state & closed) != 0) return Poll<bool>::ready(false);  // that changes under the lock only
  while ((state & has_waiters) == 0) {
    const bool enough = has(state, waiter.needed_);
    const std::size_t next =
        enough ? state - (std::size_t{waiter.needed_} << permit_shift) : state | has_waiters;
    if (!state_.compare_exchange_weak(state, next, memory_order_acquire, memory_order_acquire))
      continue;
    if (enough) return Poll<bool>::ready(true);
    break;
  }
  waiters_.push(waiter, std::move(waker));
  return pending;
}

void Permits::leave(Acquiring& waiter) noexcept {
  Waker dropped;
  SpinGuard guard(lock_);
  if (waiters_.remove(waiter, dropped))
    return serve(guard, 0);  // there may be enough for the next one, who wants fewer
  guard.unlock();
  waiter.wait_until_notified();
  if (!waiter.refused_) give(waiter.needed_);
}

void Permits::give_contended(std::size_t n) noexcept {
  {
    SpinGuard guard(lock_);
    if ((state_.load(memory_order_relaxed) & has_waiters) != 0) return serve(guard, n);
  }
  give(n);  // the last waiter left meanwhile
}

/// Adds `n` and gives the permits to the waiters, in their order, then the lock back. Only while
/// `has_waiters` is set: the word is the lock holder's.
void Permits::serve(SpinGuard& guard, std::size_t n) noexcept {
  WakeBatch woken;
  // ORDER: acquire; what the former holders did is published to the waiters, who are notified.
  std::size_t state = state_.load(memory_order_acquire);
  std::size_t permits = plus(state, n) >> permit_shift;
  while (!waiters_.is_empty() && waiters_.first<Acquiring>().needed_ <= permits) {
    if (!woken.is_full()) {
      auto& waiter = waiters_.first<Acquiring>();
      permits -= waiter.needed_;
      woken.take(waiter);
      continue;
    }
    // ORDER: release; as above, for whoever takes the rest.
    state_.store(permits << permit_shift | (state & closed) | has_waiters, memory_order_release);
    guard.unlock();
    woken.wake_all();
    guard.lock();
    // ORDER: acquire; as above.
    state = state_.load(memory_order_acquire);
    permits = state >> permit_shift;
    if ((state & has_waiters) == 0) return guard.unlock();  // another one served the rest
  }
  // What nobody waits for is given after the lock: whoever takes it may end it all.
  const std::size_t left = waiters_.is_empty() ? std::exchange(permits, 0) : 0;
  // ORDER: release; as above.
  state_.store(permits << permit_shift | (state & closed) | (waiters_.is_empty() ? 0 : has_waiters),
               memory_order_release);
  guard.unlock();
  if (left != 0) give(left);
  woken.wake_all();
}

std::size_t Permits::forget(std::size_t n) noexcept {
  // The lock keeps those away who serve waiters by plain stores.
  const SpinGuard guard(lock_);
  std::size_t state = state_.load(memory_order_relaxed);
  for (;;) {
    const std::size_t taken = n < state >> permit_shift ? n : state >> permit_shift;
    // ORDER: acquire; as any who takes permits.
    if (state_.compare_exchange_weak(state, state - (taken << permit_shift), memory_order_acquire,
                                     memory_order_relaxed))
      return taken;
  }
}

void Permits::close() noexcept {
  WakeBatch woken;
  SpinGuard guard(lock_);
  // ORDER: release; who finds it closed sees what was done before.
  const std::size_t state = state_.fetch_or(closed, memory_order_release);
  while (!waiters_.is_empty()) {  // closed, it gets no new ones
    if (woken.is_full()) {
      guard.unlock();
      woken.wake_all();
      guard.lock();
      continue;
    }
    auto& waiter = waiters_.first<Acquiring>();
    waiter.refused_ = true;
    woken.take(waiter);
  }
  if ((state & has_waiters) != 0) state_.fetch_and(~has_waiters, memory_order_relaxed);
  guard.unlock();
  woken.wake_all();
}

}  // namespace rouse::sync
