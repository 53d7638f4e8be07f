// TimerEntry: one sleep's place among the timers. It is a member of the future that sleeps, so a
// sleep allocates nothing.
//
//   fresh --register_with--> in a wheel --fire--> fired
//     ^                           |                 |
//     '---------- cancel ---------'---- cancel -----'
//
// The future's thread owns the entry, except that while it is in a wheel the links and the waker
// belong to whoever holds that wheel's lock. docs/design/0010 explains the protocol.
#pragma once

#include <cstdint>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/cell.hpp"
#include "rouse/base/internal/ring.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/context.hpp"
#include "rouse/time/instant.hpp"

namespace rouse::internal {

/// What a TimerWheel keeps. The deadline must not change while it is in one.
class WheelNode : public RingLink {
 public:
  explicit WheelNode(time::Instant at) noexcept : deadline(at) {}

  time::Instant deadline;
  /// A node some places further on in the list, if it is still there: only ever prefetched. A node
  /// whose time comes is nowhere in the cache, and following `next` alone is one miss a node.
  const RingLink* ahead = nullptr;

 protected:
  ~WheelNode() = default;
};

class Timers;

class ROUSE_API TimerEntry : public WheelNode {
 public:
  /// Fires at the first tick at or after `at`; if that has passed it has fired already.
  explicit TimerEntry(time::Instant at) noexcept;
  TimerEntry(time::Instant at, time::Instant now) noexcept
      : WheelNode(at), place_(at <= now ? fired : fresh) {}
  /// A future may be moved until its first poll: its entry is in no wheel then.
  TimerEntry(TimerEntry&& other) noexcept
      : WheelNode(other.deadline), place_(other.place_.load(memory_order_relaxed)) {
    ROUSE_ASSERT(!other.is_in_wheel(),
                 "a sleep was moved after its first poll: move it before, or keep it in a "
                 "rouse::AnyFuture, which may be moved at any time");
  }
  ~TimerEntry() { leave(); }

  /// True once the deadline has passed. False: the latest context's waker will be woken then. The
  /// first call puts the entry among the timers of this thread; there must be some.
  bool poll(Context& cx);
  /// Takes it out of the timers, with the waker: so it may be moved. The next poll puts it back.
  void leave() noexcept {
    if (is_in_wheel()) cancel();
  }
  /// A new deadline. A current waiter is woken at the new one.
  void reset(time::Instant at);

  [[nodiscard]] bool has_fired() const noexcept { return load() == fired; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(TimerEntry, "sleep", sleep,
              static_cast<time::Instant TimerEntry::*>(&TimerEntry::deadline))

 private:
  friend class Timers;
  // What `place_` may be besides the address of the Timers it is in.
  static constexpr std::uintptr_t fresh = 0;
  static constexpr std::uintptr_t fired = 1;

  // ORDER: acquire; whoever sees `fired` or `fresh` sees that the wheel is done with the entry.
  [[nodiscard]] std::uintptr_t load() const noexcept { return place_.load(memory_order_acquire); }
  [[nodiscard]] bool is_in_wheel() const noexcept { return load() > fired; }
  [[nodiscard]] Timers* timers() const noexcept;
  void cancel() noexcept;

  Cell<Waker> waker_;
  atomic<std::uintptr_t> place_;
};

}  // namespace rouse::internal
