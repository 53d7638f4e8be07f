#include "rouse/sync/barrier.hpp"

#include <utility>

#include "rouse/sync/internal/wait_until.hpp"

namespace rouse::sync {

bool Barrier::arrive(internal::Waiter& waiter, std::size_t& round_of_it, Waker waker) noexcept {
  lock_.lock();
  round_of_it = round_.load(memory_order_relaxed);
  if (++arrived_ >= size_) {
    arrived_ = 0;
    // ORDER: release; publishes what all did before they arrived, which the lock made visible.
    round_.store(round_of_it + 1, memory_order_release);
    internal::notify_all_and_unlock(lock_, waiters_);
    return true;
  }
  waiters_.push(waiter, std::move(waker));
  lock_.unlock();
  return false;
}

void Barrier::leave(internal::Waiter& waiter, std::size_t round_of_it) noexcept {
  Waker dropped;
  internal::SpinGuard guard(lock_);
  if (round_of_it == round_.load(memory_order_relaxed)) --arrived_;
  if (waiters_.remove(waiter, dropped)) return;
  guard.unlock();
  waiter.wait_until_notified();
}

Poll<BarrierResult> Barrier::Wait::poll(Context& cx) {
  if (!cx.take_budget()) return pending;
  if (waiter_.is_fresh()) {
    if (!barrier_->arrive(waiter_, round_, Waker(cx.waker()))) return pending;
    return Poll<BarrierResult>::ready(BarrierResult(true));
  }
  // ORDER: acquire; whoever sees the next round sees what all did before they arrived.
  if (!internal::wait_until(barrier_->lock_, barrier_->waiters_, waiter_, cx, [this] {
        return barrier_->round_.load(memory_order_acquire) != round_;
      }))
    return pending;
  return Poll<BarrierResult>::ready(BarrierResult(false));
}

}  // namespace rouse::sync
