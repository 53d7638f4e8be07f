// AtomicWaker: one waker slot that a task fills and another thread (or a signal handler) wakes.
//
// One task registers, any number of threads wake. A wake during a registration is not lost:
// whichever of the two finishes second calls the waker.
//
//   waiting --register--> registering --done--> waiting
//   waiting --wake--> waking --done--> waiting          (takes the waker out and calls it)
//   registering --wake--> registering|waking            (the registering side calls it)
//
// The slot belongs to whoever moved the state away from `waiting`.
#pragma once

#include <cstdint>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/cell.hpp"
#include "rouse/core/waker.hpp"

namespace rouse {

class ROUSE_API AtomicWaker {
 public:
  constexpr AtomicWaker() noexcept = default;
  AtomicWaker(const AtomicWaker&) = delete;
  AtomicWaker& operator=(const AtomicWaker&) = delete;

  /// Stores a copy of `waker` for the next wake. Register first, then check the condition: one of
  /// the two sees a wake in between.
  /// Threads: one registration at a time.
  void register_waker(const Waker& waker) {
    std::uint8_t expected = waiting;
    // ORDER: acquire; sees the slot as the last waker or registrar left it.
    if (!state_.compare_exchange_strong(expected, registering, memory_order_acquire,
                                        memory_order_acquire)) {
      ROUSE_ASSERT(expected == waking, "AtomicWaker: two threads register at the same time");
      // Somebody is waking right now, maybe with the old waker: make sure that the task is polled
      // again.
      waker.wake_by_ref();
      return;
    }
    Waker old;
    if (!slot_.read().will_wake(waker)) old = std::exchange(slot_.write(), Waker(waker));
    expected = registering;
    // ORDER: release; publishes the slot to the next wake.
    if (!state_.compare_exchange_strong(expected, waiting, memory_order_release,
                                        memory_order_relaxed)) {
      Waker woken = std::move(slot_.write());
      // ORDER: release; gives the slot back before the waker is called. acquire; sees what was
      // written before the wakes that came meanwhile.
      state_.exchange(waiting, memory_order_acq_rel);
      std::move(woken).wake();
    }
    // `old` is dropped here, after the slot was released: dropping may re-enter.
  }

  /// Wakes the registered waker, once, if there is one. From any thread.
  void wake() {
    if (Waker waker = take()) std::move(waker).wake();
  }

  /// Removes the registered waker without waking it. Empty if there is none or another thread is
  /// taking it.
  Waker take() {
    // ORDER: acq_rel; release publishes what the task will look at, acquire sees its waker.
    if (state_.fetch_or(waking, memory_order_acq_rel) != waiting) return Waker();
    Waker waker = std::move(slot_.write());
    // ORDER: release; the slot is empty before the next registration sees it.
    state_.fetch_and(static_cast<std::uint8_t>(~waking), memory_order_release);
    return waker;
  }

 private:
  static constexpr std::uint8_t waiting = 0;
  static constexpr std::uint8_t registering = 1;
  static constexpr std::uint8_t waking = 2;

  atomic<std::uint8_t> state_{waiting};
  Cell<Waker> slot_;
};

}  // namespace rouse
