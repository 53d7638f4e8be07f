// SpinLock: guards a few instructions, such as linking an entry into a list. One byte, one
// read-modify-write to lock, none to unlock.
//
// A thread that finds it locked spins shortly, then gives the processor away: the holder may have
// been interrupted. Nothing that may take long or call foreign code belongs under it: no waker is
// cloned, woken or dropped there. Not for interrupt and signal handlers, which would wait for the
// thread they interrupt.
#pragma once

#include "rouse/base/atomic.hpp"
#include "rouse/base/attributes.hpp"

namespace rouse {

class ROUSE_API SpinLock {
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
  void lock_contended() noexcept;

  atomic<bool> locked_{false};
};

/// Holds a SpinLock until its end or `unlock`.
class [[nodiscard]] SpinGuard {
 public:
  explicit SpinGuard(SpinLock& lock) noexcept : lock_(&lock) { lock.lock(); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;
  ~SpinGuard() {
    if (lock_) lock_->unlock();
  }
  void unlock() noexcept {
    lock_->unlock();
    lock_ = nullptr;
  }

 private:
  SpinLock* lock_;
};

#if !__STDC_HOSTED__
/// No other thread can be let run: spin.
inline void SpinLock::lock_contended() noexcept {
  // ORDER: acquire; as in lock.
  while (locked_.exchange(true, memory_order_acquire)) spin_hint();
}
#endif

}  // namespace rouse
