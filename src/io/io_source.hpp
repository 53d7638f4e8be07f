// IoSource: what the reactor knows of one registered descriptor, and who waits for it.
//
// `ready_` is io::Ready's word. The thread that hands events out adds flags and moves the tick on;
// whoever tried the descriptor and was told to wait takes away the flags he saw, unless the tick
// has moved since: then there is news, and he tries again. The tick has 36 bits: at a million
// events a second it comes round after 19 hours between the look and the clear.
//
// The generation is part of the token that the kernel keeps, and moves on when the source is given
// back: an event of a descriptor that was removed finds another generation and changes nothing,
// also if the same slot, or the same descriptor number, has a new owner by then.
//
// No wake is lost. A waiter looks at `ready_` under the lock before it puts its waker there; the
// reactor changes `ready_` first and takes the lock then. If the look came before the change, the
// waker is there when the reactor has the lock.
//
// Two kinds of waiters: one waker each for reading and writing, for the poll functions of streams,
// which one task uses at a time; and a list of any number of futures.
// Sources are never freed before their reactor: an event's token may be looked up at any time.
#pragma once

#include <cstdint>

#include "rouse/base/spin_lock.hpp"
#include "rouse/io/readiness_waiter.hpp"
#include "rouse/io/ready.hpp"

namespace rouse::io {

class alignas(64) IoSource {
 public:
  IoSource() noexcept = default;
  IoSource(const IoSource&) = delete;
  IoSource& operator=(const IoSource&) = delete;

  static constexpr unsigned generation_bits = 20;
  static constexpr unsigned generation_shift = 8;
  static constexpr unsigned tick_shift = generation_shift + generation_bits;
  static constexpr std::uint64_t generation_mask = (std::uint64_t{1} << generation_bits) - 1;

  // --- Whoever uses the descriptor. ---

  [[nodiscard]] Ready ready() const noexcept {
    // ORDER: acquire; what the kernel had before it told is read from the kernel; and the flag that
    // the runtime has ended comes with the end.
    return Ready(ready_.load(memory_order_acquire));
  }
  /// False: the latest context's waker will be woken. One task at a time for each direction.
  bool poll_ready(Interest direction, Context& cx, Ready& now) {
    return !would_wait(direction, now) || !wait(direction, cx, now);
  }
  bool poll_ready(ReadinessWaiter& waiter, Interest interest, Context& cx, Ready& ready);
  void leave(ReadinessWaiter& waiter) noexcept;
  /// The system said that it would block: nothing of what was `seen` for this direction holds.
  void clear_blocked(Ready seen, Interest direction) noexcept {
    clear(seen, Ready::flags_of(direction));
  }
  /// Less came than there was room for: a stream has no more for now, but may be at its end, or the
  /// read stopped before an urgent byte. Those flags stay, so the next read is tried and tells.
  void clear_drained(Ready seen, Interest direction) noexcept {
    clear(seen, Ready::flags_of(direction) & (Ready::readable | Ready::writable));
  }

  // --- The reactor. ---

  /// For a new descriptor, which counts as ready until it is tried.
  void open(Interest interest) noexcept;
  [[nodiscard]] std::uint64_t generation() const noexcept {
    return (ready_.load(memory_order_relaxed) >> generation_shift) & generation_mask;
  }
  /// An event of the kernel: wakes who waits for that.
  void add_ready(std::uint64_t generation, std::uint64_t flags) noexcept;
  /// Whatever its generation: it is the runtime that ends.
  void end() noexcept;
  /// The descriptor is gone.
  void retire() noexcept;

  std::uint32_t index = 0;        // among the reactor's
  IoSource* next_free = nullptr;  // the reactor's

 private:
  bool would_wait(Interest interest, Ready& now) const noexcept {
    now = ready();
    return (now.word() & (Ready::flags_of(interest) | Ready::runtime_ended)) == 0;
  }
  bool wait(Interest direction, Context& cx, Ready& now);
  void clear(Ready seen, std::uint64_t flags) noexcept;
  void expect_watched(Interest interest) const noexcept;
  static constexpr std::uint64_t tick_of(std::uint64_t word) noexcept { return word >> tick_shift; }
  void wake(std::uint64_t flags, std::uint64_t tick) noexcept;
  void wake_waiters(std::uint64_t flags, std::uint64_t tick) noexcept;
  void link(ReadinessWaiter& waiter) noexcept;
  static void unlink(ReadinessWaiter& waiter) noexcept;
  Waker& slot(Interest direction) noexcept {
    return direction == Interest::readable ? reader_ : writer_;
  }

  atomic<std::uint64_t> ready_{0};
  SpinLock lock_;
  std::uint8_t watched_for_ = 0;  // an Interest; what the kernel tells of
  Waker reader_;
  Waker writer_;
  ReadinessWaiter waiters_;  // a ring, empty if it has no neighbours; takes no part itself
};

}  // namespace rouse::io
