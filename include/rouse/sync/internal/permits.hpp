// Permits: a number of permits and who waits for them, in order: what Semaphore, Mutex and RwLock
// are made of. Needs no heap, no exceptions and no system.
//
// The state is one word: the permits, whether somebody waits, whether it is closed. Without waiters
// taking and giving are one exchange of it. While `has_waiters` is set only the holder of the lock
// changes the word, and permits go to the waiters in their order: nobody overtakes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/attributes.hpp"
#include "rouse/base/spin_lock.hpp"
#include "rouse/core/future.hpp"
#include "rouse/sync/wait_list.hpp"

namespace rouse::sync {

class Acquiring;

class ROUSE_API Permits {
 public:
  static constexpr std::size_t max = SIZE_MAX >> 3;

  explicit constexpr Permits(std::size_t permits) noexcept : state_(permits << permit_shift) {
    ROUSE_ASSERT(permits <= max, "more permits than there can be: SIZE_MAX / 8");
  }

  /// Gives `n` permits, to those who wait or for those who come.
  void give(std::size_t n) noexcept { give(n, state_.load(memory_order_relaxed)); }
  /// The same, if most likely there is none now: a guess costs less than to look.
  void give_to_none(std::size_t n) noexcept { give(n, 0); }
  /// Takes away up to `n` for good; says how many there were to take.
  std::size_t forget(std::size_t n) noexcept;
  [[nodiscard]] std::size_t available() const noexcept {
    return state_.load(memory_order_relaxed) >> permit_shift;
  }

  /// True: `n` permits were taken. Not while somebody waits.
  [[nodiscard]] bool try_take(std::uint32_t n) noexcept {
    return try_take(n, state_.load(memory_order_relaxed));
  }
  /// The same, if most likely there are just `n`: a guess costs less than to look.
  [[nodiscard]] bool try_take_all(std::uint32_t n) noexcept {
    return try_take(n, std::size_t{n} << permit_shift);
  }

  /// Whoever waits, now or later, is refused.
  void close() noexcept;
  [[nodiscard]] bool is_closed() const noexcept {
    // ORDER: acquire; sees what was done before `close`.
    return (state_.load(memory_order_acquire) & closed) != 0;
  }

 private:
  friend class Acquiring;

  static constexpr std::size_t closed = 1;
  static constexpr std::size_t has_waiters = 2;
  static constexpr unsigned permit_shift = 2;

  /// Open, nobody waits, and n permits are there.
  static constexpr bool has(std::size_t state, std::uint32_t n) noexcept {
    return (state & (closed | has_waiters)) == 0 && state >> permit_shift >= n;
  }
  static std::size_t plus(std::size_t state, std::size_t n) noexcept {
    ROUSE_ASSERT(n <= max - (state >> permit_shift),
                 "more permits than there can be: some were given back twice");
    return state + (n << permit_shift);
  }

  bool try_take(std::uint32_t n, std::size_t state) noexcept {
    while (has(state, n)) {
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
  Poll<bool> wait(Acquiring& waiter, const Context& cx) noexcept;
  void leave(Acquiring& waiter) noexcept;

  atomic<std::size_t> state_;
  SpinLock lock_;
  WaitList waiters_;
};

/// One who wants permits: what all futures that lock something are made of.
class ROUSE_API Acquiring : public Waiter {
 public:
  Acquiring(Permits& permits, std::uint32_t n) noexcept : needed_(n), permits_(&permits) {}
  Acquiring(Acquiring&&) noexcept = default;
  ~Acquiring() {
    if (!is_fresh()) permits_->leave(*this);
  }

  /// True: the caller has the permits. False: they are closed.
  Poll<bool> poll(Context& cx) noexcept {
    if (!cx.take_budget()) return pending;
    if (is_fresh() && permits_->try_take(needed_)) [[likely]]
      return Poll<bool>::ready(true);
    return wait(cx);
  }
  /// The same for all the permits there are.
  Poll<bool> poll_all(Context& cx) noexcept {
    if (!cx.take_budget()) return pending;
    if (is_fresh() && permits_->try_take_all(needed_)) [[likely]]
      return Poll<bool>::ready(true);
    return wait(cx);
  }
  [[nodiscard]] std::uint32_t needed() const noexcept { return needed_; }

 private:
  friend class Permits;

  Poll<bool> wait(Context& cx) noexcept;

  bool refused_ = false;  // notified, but without permits: they were closed
  std::uint32_t needed_;
  Permits* permits_;
};

}  // namespace rouse::sync
