// Barrier: lets n tasks wait for each other. The last one to arrive is the leader of that round;
// then all continue, and the next round may begin at once.
//
//   sync::Barrier barrier(3);
//   if ((co_await barrier.wait()).is_leader()) merge_results();   // one of the three
//
// A dropped waiter counts as not arrived. Allocates nothing; works without exceptions and without
// an operating system.
#pragma once

#include <cstddef>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/sync/internal/wait_list.hpp"
#include "rouse/sync/internal/wait_until.hpp"

namespace rouse::sync {

/// The result of Barrier::wait.
class BarrierResult {
 public:
  explicit constexpr BarrierResult(bool leader) noexcept : leader_(leader) {}
  /// True for one task of each round.
  [[nodiscard]] constexpr bool is_leader() const noexcept { return leader_; }

 private:
  bool leader_;
};

/// Must outlive its futures, and all calls on it.
/// Threads: any.
class Barrier {
 public:
  class Wait;

  /// For `n` tasks; 0 works like 1: nobody waits.
  explicit constexpr Barrier(std::size_t n) noexcept : size_(n) {}

  /// Arrives at the first poll, completes when n have arrived. Borrows the barrier.
  /// Cancel safety: a dropped future counts as not arrived.
  [[nodiscard]] Wait wait() noexcept;

 private:
  // ORDER: acquire; whoever sees the next round sees what all did before they arrived.
  [[nodiscard]] std::size_t round() const noexcept { return round_.load(memory_order_acquire); }

  /// True: the caller is the leader, and the round is over. Otherwise `waiter` waits for the end of
  /// `round_of_it`.
  bool arrive(internal::Waiter& waiter, std::size_t& round_of_it, Waker waker) noexcept {
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
  void leave(internal::Waiter& waiter, std::size_t round_of_it) noexcept {
    Waker dropped;
    internal::SpinGuard guard(lock_);
    if (round_of_it == round_.load(memory_order_relaxed)) --arrived_;
    if (waiters_.remove(waiter, dropped)) return;
    guard.unlock();
    waiter.wait_until_notified();
  }

  const std::size_t size_;
  internal::SpinLock lock_;
  std::size_t arrived_ = 0;       // guarded by the lock
  atomic<std::size_t> round_{0};  // written under the lock
  internal::WaitList waiters_;
};

class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] Barrier::Wait {
 public:
  using Output = BarrierResult;

  explicit Wait(Barrier& barrier) noexcept : barrier_(&barrier) {}
  Wait(Wait&&) noexcept = default;
  ~Wait() {
    if (!waiter_.is_fresh()) barrier_->leave(waiter_, round_);
  }

  Poll<BarrierResult> poll(Context& cx) {
    if (!cx.take_budget()) return pending;
    if (waiter_.is_fresh()) {
      if (!barrier_->arrive(waiter_, round_, Waker(cx.waker()))) return pending;
      return Poll<BarrierResult>::ready(BarrierResult(true));
    }
    if (!internal::wait_until(barrier_->lock_, barrier_->waiters_, waiter_, cx,
                              [this] { return barrier_->round() != round_; }))
      return pending;
    return Poll<BarrierResult>::ready(BarrierResult(false));
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  struct Waiting : internal::Waiter {};
  Barrier* barrier_;
  std::size_t round_ = 0;
  Waiting waiter_;
};

inline Barrier::Wait Barrier::wait() noexcept { return Wait(*this); }

}  // namespace rouse::sync
