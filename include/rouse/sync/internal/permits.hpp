// Permits: a number of permits and their waiters, in order: what Semaphore, Mutex and RwLock are
// made of. Needs no heap, no exceptions, no clock and no operating system.
//
// The state is one word: the permits, whether somebody waits, whether it is closed. Without
// waiters, taking and giving are one exchange of it. While `has_waiters` is set, only the holder of
// the lock changes the word, and permits go to the waiters in order.
//
// Who wants *some* permits is not overtaken. Who wants *all* (a Mutex, a writer) can be, once: when
// all are there, they stay free, the first waiter is *woken*, and whoever comes first takes them.
// So a lock does not stand still until the woken task is polled. When that one is polled or
// dropped, it looks after the queue; until then others just take and give. If it comes too late, it
// is the first to wait again, and is given the permits next time. Proof:
// docs/design/0020-a-free-lock-may-be-taken.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/core/future.hpp"
#include "rouse/sync/internal/wait_list.hpp"

namespace rouse::internal {

/// A waiter for permits: part of all futures that lock something.
class Acquiring : public Waiter {
 public:
  explicit Acquiring(std::uint32_t n, bool wants_all = false) noexcept
      : wants_all_(wants_all), needed_(n) {}
  [[nodiscard]] std::uint32_t needed() const noexcept { return needed_; }

 private:
  friend class Permits;
  enum class News : std::uint8_t { granted, refused, woken } news_{};  // if it was notified
  bool wants_all_;
  bool lost_turn_ = false;  // it was woken in vain
  std::uint32_t needed_;
};

class ROUSE_API Permits {
 public:
  static constexpr std::size_t max = SIZE_MAX >> 3;

  explicit constexpr Permits(std::size_t permits) noexcept : state_(permits << permit_shift) {
    ROUSE_ASSERT(permits <= max, "more permits than there can be: SIZE_MAX / 8");
  }

  /// Gives `n` permits, to waiters or to those who come later.
  void give(std::size_t n) noexcept { give(n, state_.load(memory_order_relaxed)); }
  /// The same, if there is probably none now: a guess costs less than a load.
  void give_to_none(std::size_t n) noexcept { give(n, 0); }
  /// Removes up to `n` for good; returns how many it removed.
  std::size_t forget(std::size_t n) noexcept;
  [[nodiscard]] std::size_t available() const noexcept {
    return state_.load(memory_order_relaxed) >> permit_shift;
  }

  /// True: `n` permits were taken. Not while somebody waits.
  [[nodiscard]] bool try_take(std::uint32_t n) noexcept {
    return try_take(n, state_.load(memory_order_relaxed), closed | has_waiters | woken);
  }
  /// The same for all there are, even if another one was woken for them. That they are free and
  /// nobody waits is a guess, which costs less than a load.
  [[nodiscard]] bool try_take_all(std::uint32_t n) noexcept {
    return try_take(n, std::size_t{n} << permit_shift, closed | has_waiters);
  }

  /// For a future. True: it has the permits. False: they are closed.
  template <bool All = false>
  Poll<bool> poll_take(Acquiring& waiter, Context& cx) noexcept {
    if (!cx.take_budget()) return pending;
    const std::uint32_t n = waiter.needed_;
    if (waiter.is_fresh() && (All ? try_take_all(n) : try_take(n))) [[likely]]
      return Poll<bool>::ready(true);
    return wait(waiter, cx);
  }
  /// For a future that is dropped while it waits.
  void leave(Acquiring& waiter) noexcept;

  /// Which task took all there are: Context::task_tag; 0: nobody knows. For a dump: it says nothing
  /// once the permits may have been given. So who gives them forgets it first: then who sees that
  /// they were taken again does not see the holder before.
  void set_holder(std::uint32_t task_tag) noexcept {
    holder_.store(task_tag, memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t holder() const noexcept {
    // ORDER: acquire; sees what was done before the permits were given last.
    if (state_.load(memory_order_acquire) >> permit_shift != 0) return 0;
    return holder_.load(memory_order_relaxed);
  }

  /// All waiters, now and later, are refused.
  void close() noexcept;
  [[nodiscard]] bool is_closed() const noexcept {
    // ORDER: acquire; sees what was done before `close`.
    return (state_.load(memory_order_acquire) & closed) != 0;
  }

 private:
  static constexpr std::size_t closed = 1;
  static constexpr std::size_t has_waiters = 2;
  static constexpr std::size_t woken = 4;  // one was, and has not come back. Not with has_waiters
  static constexpr unsigned permit_shift = 3;

  static std::size_t plus(std::size_t state, std::size_t n) noexcept {
    ROUSE_ASSERT(n <= max - (state >> permit_shift),
                 "more permits than there can be: some were given back twice");
    return state + (n << permit_shift);
  }

  bool try_take(std::uint32_t n, std::size_t state, std::size_t obstacles) noexcept {
    while ((state & obstacles) == 0 && state >> permit_shift >= n) {
      // ORDER: acquire; sees what the last holder did.
      if (state_.compare_exchange_weak(state, state - (std::size_t{n} << permit_shift),
                                       memory_order_acquire, memory_order_relaxed)) [[likely]]
        return true;
    }
    return false;
  }
  void give(std::size_t n, std::size_t state) noexcept {
    while ((state & has_waiters) == 0) {
      // ORDER: release; publishes what the holder did to the next one.
      if (state_.compare_exchange_weak(state, plus(state, n), memory_order_release,
                                       memory_order_relaxed)) [[likely]]
        return;
    }
    give_contended(n);
  }
  void give_contended(std::size_t n) noexcept;
  void serve(SpinGuard& guard, std::size_t n) noexcept;
  void wake_first(SpinGuard& guard, std::size_t permits) noexcept;
  Poll<bool> wait(Acquiring& waiter, const Context& cx) noexcept;
  Poll<bool> begin_to_wait(Acquiring& waiter, const Context& cx) noexcept;
  Poll<bool> take_notified(Acquiring& waiter, const Context& cx) noexcept;
  Poll<bool> come_back(Acquiring& waiter, const Context& cx) noexcept;
  bool settle(const Acquiring& waiter, bool waits_again) noexcept;

  atomic<std::size_t> state_;
  SpinLock lock_;
  atomic<std::uint32_t> holder_{0};
  WaitList waiters_;
};

}  // namespace rouse::internal
