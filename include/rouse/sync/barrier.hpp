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
class ROUSE_API Barrier {
 public:
  class Wait;

  /// For `n` tasks; 0 works like 1: nobody waits.
  explicit constexpr Barrier(std::size_t n) noexcept : size_(n) {}

  /// Arrives at the first poll, completes when n have arrived. Borrows the barrier.
  /// Cancel safety: a dropped future counts as not arrived.
  [[nodiscard]] Wait wait() noexcept;

 private:
  /// True: the caller is the leader, and the round is over. Otherwise `waiter` waits for the end of
  /// `round_of_it`.
  bool arrive(internal::Waiter& waiter, std::size_t& round_of_it, Waker waker) noexcept;
  void leave(internal::Waiter& waiter, std::size_t round_of_it) noexcept;

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

  ROUSE_API Poll<BarrierResult> poll(Context& cx);
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Wait, "Barrier", notify, &Wait::barrier_)

 private:
  struct Waiting : internal::Waiter {};
  Barrier* barrier_;
  std::size_t round_ = 0;
  Waiting waiter_;
};

inline Barrier::Wait Barrier::wait() noexcept { return Wait(*this); }

}  // namespace rouse::sync
