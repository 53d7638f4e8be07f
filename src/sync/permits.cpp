// What happens while somebody waits. See sync/internal/permits.hpp.
#include "rouse/sync/internal/permits.hpp"

#include <utility>

#include "rouse/base/internal/recording.hpp"

#include "sync/wake_batch.hpp"

namespace rouse::internal {

Poll<bool> Permits::wait(Acquiring& waiter, const Context& cx) noexcept {
  if (waiter.is_fresh()) {
    const Poll<bool> taken = begin_to_wait(waiter, cx);
    if (taken.is_pending() && is_recording()) record_lock_wait(cx.task_tag(), this);
    return taken;
  }
  if (!waiter.is_notified() && WaitList::keep_waker(lock_, waiter, cx)) return pending;
  const Poll<bool> taken = take_notified(waiter, cx);
  if (taken.is_ready() && is_recording()) record_lock_got(cx.task_tag(), this);
  return taken;
}

Poll<bool> Permits::take_notified(Acquiring& waiter, const Context& cx) noexcept {
  if (waiter.news_ == Acquiring::News::woken) return come_back(waiter, cx);
  waiter.reset();
  return Poll<bool>::ready(waiter.news_ == Acquiring::News::granted);
}

Poll<bool> Permits::begin_to_wait(Acquiring& waiter, const Context& cx) noexcept {
  Waker waker = cx.waker();
  const std::size_t obstacles = waiter.wants_all_ ? closed : closed | woken;
  const SpinGuard guard(lock_);
  // ORDER: acquire here and below; sees the last holder's writes, or what was done before `close`.
  std::size_t state = state_.load(memory_order_acquire);
  if ((state & closed) != 0) return Poll<bool>::ready(false);  // that changes under the lock only
  while ((state & has_waiters) == 0) {
    const bool enough = (state & obstacles) == 0 && state >> permit_shift >= waiter.needed_;
    if (!enough && (state & woken) != 0) break;  // who was woken looks after the queue
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

/// The waiter was woken and is polled.
Poll<bool> Permits::come_back(Acquiring& waiter, const Context& cx) noexcept {
  {
    const SpinGuard guard(lock_);
    if (settle(waiter, false)) {
      waiter.reset();
      return Poll<bool>::ready(true);
    }
  }
  Waker waker = cx.waker();
  const SpinGuard guard(lock_);
  if (settle(waiter, true)) {
    waiter.reset();
    return Poll<bool>::ready(true);
  }
  waiter.lost_turn_ = true;
  waiters_.push(waiter, std::move(waker), true);
  return pending;
}

/// Under the lock, for the one that was woken: takes the permits if they are there. If not, and it
/// waits again, it is no longer on its way.
bool Permits::settle(const Acquiring& waiter, bool waits_again) noexcept {
  const std::size_t still_waiting = waiters_.empty() ? 0 : has_waiters;
  std::size_t state = state_.load(memory_order_relaxed);
  for (;;) {
    const bool enough = state >> permit_shift >= waiter.needed_;
    if (!enough && !waits_again) return false;
    const std::size_t next =
        enough ? state - (std::size_t{waiter.needed_} << permit_shift) - woken + still_waiting
               : state - woken + has_waiters;
    // ORDER: acquire; sees what the last holder did.
    if (state_.compare_exchange_weak(state, next, memory_order_acquire, memory_order_relaxed))
      return enough;
  }
}

void Permits::leave(Acquiring& waiter) noexcept {
  Waker dropped;
  SpinGuard guard(lock_);
  if (waiters_.remove(waiter, dropped)) {
    const bool is_served = (state_.load(memory_order_relaxed) & has_waiters) != 0;
    return is_served ? serve(guard, 0) : guard.unlock();
  }
  guard.unlock();
  waiter.wait_until_notified();
  if (waiter.news_ == Acquiring::News::granted) give(waiter.needed_);
  if (waiter.news_ != Acquiring::News::woken) return;
  // Another one is to be woken for what it does not want any more.
  guard.lock();
  const std::size_t still_waiting = waiters_.empty() ? 0 : has_waiters;
  // A read-modify-write: others take and give at the same time.
  state_.fetch_add(still_waiting - woken, memory_order_relaxed);
  if (still_waiting != 0) serve(guard, 0);
}

void Permits::give_contended(std::size_t n) noexcept {
  {
    SpinGuard guard(lock_);
    if ((state_.load(memory_order_relaxed) & has_waiters) != 0) return serve(guard, n);
  }
  give(n);  // the last waiter left meanwhile
}

/// Adds `n`, gives the permits to the waiters in order, then unlocks. Only while `has_waiters` is
/// set: then the lock holder owns the word.
void Permits::serve(SpinGuard& guard, std::size_t n) noexcept {
  WakeBatch batch;
  // ORDER: acquire; what the former holders did is published to the waiters, who are notified.
  std::size_t state = state_.load(memory_order_acquire);
  std::size_t permits = plus(state, n) >> permit_shift;
  while (!waiters_.empty() && waiters_.first<Acquiring>().needed_ <= permits) {
    auto& waiter = waiters_.first<Acquiring>();
    if (waiter.wants_all_ && !waiter.lost_turn_) return wake_first(guard, permits);
    if (!batch.is_full()) {
      permits -= waiter.needed_;
      waiter.news_ = Acquiring::News::granted;
      batch.take(waiter);
      continue;
    }
    // ORDER: release; as above, for whoever takes the rest.
    state_.store(permits << permit_shift | (state & closed) | has_waiters, memory_order_release);
    guard.unlock();
    batch.wake_all();
    guard.lock();
    // ORDER: acquire; as above.
    state = state_.load(memory_order_acquire);
    permits = state >> permit_shift;
    if ((state & has_waiters) == 0) return guard.unlock();  // another one served the rest
  }
  // Permits that nobody waits for are given after unlocking: whoever takes them may destroy
  // everything.
  const std::size_t left = waiters_.empty() ? std::exchange(permits, 0) : 0;
  // ORDER: release; as above.
  state_.store(permits << permit_shift | (state & closed) | (waiters_.empty() ? 0 : has_waiters),
               memory_order_release);
  guard.unlock();
  if (left != 0) give(left);
  batch.wake_all();
}

/// Leaves all permits to whoever comes first, and wakes the first waiter. Then unlocks: though
/// another one may have the permits by then, its future still lives, and so does all this.
void Permits::wake_first(SpinGuard& guard, std::size_t permits) noexcept {
  WakeBatch batch;
  auto& waiter = waiters_.first<Acquiring>();
  waiter.news_ = Acquiring::News::woken;
  batch.take(waiter);
  // ORDER: release; publishes what the former holders did to whoever takes them.
  state_.store(permits << permit_shift | woken, memory_order_release);
  guard.unlock();
  batch.wake_all();
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
  WakeBatch batch;
  SpinGuard guard(lock_);
  // ORDER: release; who finds it closed sees what was done before.
  const std::size_t state = state_.fetch_or(closed, memory_order_release);
  while (!waiters_.empty()) {  // closed, it gets no new ones
    if (batch.is_full()) {
      guard.unlock();
      batch.wake_all();
      guard.lock();
      continue;
    }
    auto& waiter = waiters_.first<Acquiring>();
    waiter.news_ = Acquiring::News::refused;
    batch.take(waiter);
  }
  if ((state & has_waiters) != 0) state_.fetch_and(~has_waiters, memory_order_relaxed);
  guard.unlock();
  batch.wake_all();
}

}  // namespace rouse::internal
