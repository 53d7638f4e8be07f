// ParkState: the state word of a thread that parks, and every step it makes. The same for all that
// park: a thread on a condition variable, a worker there or in the I/O driver, and that itself.
//
//   empty --enter--> in_condvar or in_io_driver --notify--> notified --leave--> empty
//   empty --notify--> notified --(enter gives false)--> notified --leave--> empty
//   in_condvar or in_io_driver --leave--> empty   (timed out, or woken by something else)
//
// No unpark is lost: it leaves `notified` behind, which keeps the next park from sleeping. Only an
// unpark that finds the thread asleep has to wake it.
#pragma once

#include <cstdint>

#include "rouse/base/atomic.hpp"

namespace rouse::internal {

class ParkState {
 public:
  enum State : std::uint32_t { empty, in_condvar, in_io_driver, notified };

  // --- The thread that parks. ---

  /// Before it sleeps in that place. False: it was unparked before, and must not sleep.
  bool enter(State place) noexcept {
    State expected = empty;
    return state_.compare_exchange_strong(expected, place, memory_order_relaxed,
                                          memory_order_relaxed);
  }
  /// Whether it is in that state: asleep there and not unparked yet, or unparked.
  bool is(State state) const noexcept { return state_.load(memory_order_relaxed) == state; }
  /// Ends each park. ORDER: acquire; sees what was written before the unpark.
  void leave() noexcept { state_.exchange(empty, memory_order_acquire); }

  // --- Any thread. ---

  /// Gives the state before: where the thread sleeps and is to be woken, if it does.
  /// ORDER: release; publishes what was written before.
  State notify() noexcept { return state_.exchange(notified, memory_order_release); }

 private:
  atomic<State> state_{empty};
};

}  // namespace rouse::internal
