// SpinLock: guards a few instructions, such as linking an entry into a list. One byte, one
// read-modify-write to lock, none to unlock.
//
// A thread that finds it locked spins shortly, then gives the processor away: the holder may have
// been interrupted. Nothing that may take long or call foreign code belongs under it: no waker is
// cloned, woken or dropped there. Not for interrupt and signal handlers, which would wait for the
// thread they interrupt.
#pragma once

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"

namespace rouse::internal {

/// For the `attempt`-th look at something that another thread is about to change: a moment's pause,
/// later on one in which that thread gets the processor.
#if __STDC_HOSTED__
ROUSE_API void back_off(unsigned attempt) noexcept;
#else
inline void back_off(unsigned) noexcept { spin_hint(); }
#endif

class SpinLock {
 public:
  constexpr SpinLock() noexcept = default;
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  void lock() noexcept {
    // ORDER: acquire; sees what the last holder wrote.
    if (locked_.exchange(true, memory_order_acquire)) [[unlikely]]
      lock_contended();
  }
  // ORDER: release; publishes what this holder wrote.
  void unlock() noexcept { locked_.store(false, memory_order_release); }

 private:
  [[gnu::noinline, gnu::cold]] void lock_contended() noexcept {
    unsigned attempt = 0;
    do {
      // Only looking keeps the line shared until the lock is free.
      while (locked_.load(memory_order_relaxed)) back_off(attempt++);
      // ORDER: acquire; sees what the last holder wrote.
    } while (locked_.exchange(true, memory_order_acquire));
  }

  atomic<bool> locked_{false};
};

/// Holds a SpinLock from its beginning to its end, but for the time between `unlock` and `lock`.
class [[nodiscard]] SpinGuard {
 public:
  explicit SpinGuard(SpinLock& lock) noexcept : lock_(lock) { lock_.lock(); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;
  ~SpinGuard() {
    if (held_) lock_.unlock();
  }
  void lock() noexcept {
    lock_.lock();
    held_ = true;
  }
  void unlock() noexcept {
    held_ = false;
    lock_.unlock();
  }

 private:
  SpinLock& lock_;
  bool held_ = true;
};

}  // namespace rouse::internal
