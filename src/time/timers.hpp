// Timers: the timers of one thread that runs tasks: a TimerWheel, its lock, and the wakers in it.
// TimeContext: what a thread knows of time: which timers are its own, and by which clock they go.
//
// The owner's thread inserts, fires, and asks how long it may sleep; during a long poll others fire
// for it. Any thread may cancel. Threads without timers of their own insert into another's, and
// unpark its owner if it would sleep too long. All of this happens under the SpinLock, which guards
// a few instructions: wakers are cloned, woken and dropped outside.
//
// Timers are never freed: `release_timers` keeps them for the next `acquire_timers`. So a sleep
// that outlives its runtime may still take the lock that its entry points to, and see that it is no
// longer in there.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rouse/base/internal/durations.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/time/internal/timer_entry.hpp"

#include "time/clock.hpp"
#include "time/timer_wheel.hpp"

namespace rouse::internal {

class Timers {
 public:
  Timers() noexcept = default;
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  enum class Inserted : std::uint8_t {
    yes,
    before_wake_up,  ///< and its owner sleeps longer than that: unpark it
    closed,          ///< not at all
  };
  /// Lets `entry`, which is in no wheel, wait here. Any thread.
  Inserted insert(TimerEntry& entry, Waker waker) noexcept;

  // Any thread, the one that owns the entry; the entry was in here at some time.
  /// Takes it out, unless it fired meanwhile.
  void cancel(TimerEntry& entry) noexcept;
  /// It is the latest waker that counts. False: the entry is not in here any more. It leaves for
  /// `here`, the timers of the thread that polls it (or null), if the owner of these may block.
  bool keep_waker(TimerEntry& entry, const Context& cx, const Timers* here);
  /// Takes it out and gives it a new deadline and, if this thread owns these timers, puts it back.
  /// False: it is in no wheel now.
  bool move(TimerEntry& entry, time::Instant deadline, bool is_owner) noexcept;

  // The owner.
  /// Fires what is due, up to a bound, and wakes the waiters; gives how many fired.
  std::size_t fire_due(const time::Clock& clock) noexcept;
  /// The same on any thread, while the owner is in a long poll. Does not touch the record of its
  /// sleep.
  std::size_t fire_for_owner(const time::Clock& clock) noexcept;
  /// How long the owner may sleep; it is unparked if an earlier timer is inserted.
  time::Nanoseconds sleep_time(const time::Clock& clock) noexcept;
  /// For a paused clock: the time of the next timer, or a time before it; Instant::max(), at which
  /// nothing fires, if there is none.
  time::Instant next() noexcept;
  /// Accepts timers, for a new owner. `owner_may_block`: see acquire_timers.
  void open(time::Instant now, bool owner_may_block) noexcept;
  /// Accepts no more timers. Waiters are woken, with fresh entries.
  void close() noexcept;

 private:
  friend class TimersStore;
  static constexpr std::size_t batch_size = 32;
  /// Whether there are timers at all. The owner is awake: nobody has to unpark it.
  bool note_awake() noexcept;
  std::size_t take_due(const time::Clock& clock, Waker* wakers, bool& more) noexcept;
  std::size_t take_any(Waker* wakers) noexcept;
  bool is_in_here(const TimerEntry& entry) const noexcept {
    return entry.place_.load(memory_order_relaxed) == reinterpret_cast<std::uintptr_t>(this);
  }
  Waker take_out(TimerEntry& entry, std::uintptr_t place) noexcept;

  SpinLock lock_;
  bool closed_ = true;
  bool owner_may_block_ = false;   // so what others poll should not stay
  std::uint64_t wakes_up_at_ = 0;  // the tick until which the owner sleeps; 0: it is awake
  TimerWheel wheel_;
  Timers* next_free_ = nullptr;  // TimersStore's
};

/// Open timers, and nobody else's until they are released. `owner_may_block`: it is no executor's
/// thread, so it need not look after them while it polls (block_on).
Timers& acquire_timers(time::Instant now, bool owner_may_block = false);
/// Closes them.
void release_timers(Timers& timers) noexcept;

class TimeContext {
 public:
  using UnparkFn = void (*)(void* executor) noexcept;
  TimeContext(Timers& its_timers, time::Clock& its_clock, bool owns) noexcept
      : timers(its_timers), clock(its_clock), is_owner(owns) {}
  TimeContext(const TimeContext&) = delete;
  TimeContext& operator=(const TimeContext&) = delete;

  Timers& timers;
  time::Clock& clock;
  const bool is_owner;        // this thread looks after the timers
  bool can_pause = true;      // the clock: nobody else goes by it
  UnparkFn unpark = nullptr;  // who does, if it does not
  void* unparked = nullptr;
  Timers* beside = nullptr;  // go by the same clock, and this thread looks after them, too

  /// See Timers::next: of both.
  [[nodiscard]] time::Instant next() const noexcept {
    const time::Instant own = timers.next();
    return beside == nullptr ? own : std::min(own, beside->next());
  }

  /// This thread's; null outside of a runtime.
  static TimeContext* current() noexcept;
  /// Sets it, and gives the one before.
  static TimeContext* exchange_current(TimeContext* context) noexcept;
};

}  // namespace rouse::internal
