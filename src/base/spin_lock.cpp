#include "rouse/base/spin_lock.hpp"

#include "sys/backoff.hpp"

namespace rouse {

void SpinLock::lock_contended() noexcept {
  constexpr unsigned spins = 32;
  unsigned attempt = 0;
  do {
    // Only looking keeps the line shared until the lock is free.
    while (locked_.load(memory_order_relaxed)) {
      attempt < spins ? spin_hint() : sys::back_off(attempt - spins);
      ++attempt;
    }
    // ORDER: acquire; sees what the last holder wrote.
  } while (locked_.exchange(true, memory_order_acquire));
}

}  // namespace rouse
