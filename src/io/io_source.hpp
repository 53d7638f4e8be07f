// IoSource: the readiness of one registered descriptor, and its waiters.
//
// `ready_` is Ready's word. The thread that dispatches events adds flags and advances the tick.
// Whoever got EAGAIN clears the flags it saw, unless the tick has advanced since: then there is a
// new event, and it tries again. The tick has 36 bits: at a million events per second it wraps
// after 19 hours between the load and the clear.
//
// The generation is part of the token in the kernel, and advances when the source is retired: an
// event of a removed descriptor finds another generation and changes nothing, even if the same
// slot, or the same descriptor number, has a new owner by then.
//
// No wake is lost. A waiter checks `ready_` under the lock before it stores its waker there; the
// reactor changes `ready_` first and then takes the lock. If the check came before the change, the
// waker is there when the reactor has the lock.
//
// Two kinds of waiters: one waker each for reading and writing, for the poll functions of streams,
// which one task uses at a time; and a list of any number of futures.
// Sources are never freed before their reactor: an event's token may be looked up at any time.
#pragma once

#include <cstdint>

#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/io/error.hpp"
#include "rouse/io/internal/readiness_waiter.hpp"
#include "rouse/io/ready.hpp"

namespace rouse::internal {

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

  [[nodiscard]] io::Ready ready() const noexcept {
    // ORDER: acquire; what the kernel had before it told is read from the kernel; and the flag that
    // the runtime has ended comes with the end.
    return io::Ready(ready_.load(memory_order_acquire));
  }
  /// False: the latest context's waker will be woken. One task at a time for each direction.
  bool poll_ready(io::Interest direction, Context& cx, io::Ready& now) {
    return !would_wait(direction, now) || !wait(direction, cx, now);
  }
  bool poll_ready(ReadinessWaiter& waiter, io::Interest interest, Context& cx, io::Ready& ready);
  /// What the first of these saw, or why it sees nothing any more.
  Poll<Result<io::Ready>> poll_seen(io::Interest direction, Context& cx) {
    io::Ready now;
    if (!poll_ready(direction, cx, now)) return pending;
    return seen(now, direction);
  }
  static Poll<Result<io::Ready>> seen(io::Ready now, io::Interest interest) noexcept {
    if (now.is(interest)) [[likely]]
      return Poll<Result<io::Ready>>::ready(now);
    return Poll<Result<io::Ready>>::ready(
        Result<io::Ready>(make_error_code(io::Error::runtime_ended)));
  }
  void leave(ReadinessWaiter& waiter) noexcept;
  /// The system said that it would block: nothing of what was `seen` for this direction holds.
  void clear_blocked(io::Ready seen, io::Interest direction) noexcept {
    clear(seen, io::Ready::flags_of(direction));
  }
  /// A short read: a stream has no more for now, but may be at end of file, or the read stopped
  /// before an urgent byte. Those flags stay, so the next read is tried and finds out.
  void clear_drained(io::Ready seen, io::Interest direction) noexcept {
    clear(seen, io::Ready::flags_of(direction) & (io::Ready::readable | io::Ready::writable));
  }

  // --- The reactor. ---

  /// For a new descriptor, which counts as ready until it is tried.
  void open(io::Interest interest) noexcept;
  [[nodiscard]] std::uint64_t generation() const noexcept {
    return (ready_.load(memory_order_relaxed) >> generation_shift) & generation_mask;
  }
  /// An event of the kernel: wakes the waiters for it.
  void add_ready(std::uint64_t generation, std::uint64_t flags) noexcept;
  /// Whatever its generation: it is the runtime that ends.
  void end() noexcept;
  /// The descriptor is gone.
  void retire() noexcept;

  std::uint32_t index = 0;        // among the reactor's
  atomic<int> descriptor{-1};     // for a trace
  IoSource* next_free = nullptr;  // the reactor's

 private:
  bool would_wait(io::Interest interest, io::Ready& now) const noexcept {
    now = ready();
    return (now.word() & (io::Ready::flags_of(interest) | io::Ready::runtime_ended)) == 0;
  }
  bool wait(io::Interest direction, Context& cx, io::Ready& now);
  void clear(io::Ready seen, std::uint64_t flags) noexcept;
  void expect_watched(io::Interest interest) const noexcept;
  static constexpr std::uint64_t tick_of(std::uint64_t word) noexcept { return word >> tick_shift; }
  void wake(std::uint64_t flags, std::uint64_t tick) noexcept;
  void wake_waiters(std::uint64_t flags, std::uint64_t tick) noexcept;
  void link(ReadinessWaiter& waiter) noexcept;
  static void unlink(ReadinessWaiter& waiter) noexcept;
  Waker& slot(io::Interest direction) noexcept {
    return direction == io::Interest::readable ? reader_ : writer_;
  }

  atomic<std::uint64_t> ready_{0};
  SpinLock lock_;
  std::uint8_t watched_for_ = 0;  // an Interest; what the kernel tells of
  Waker reader_;
  Waker writer_;
  RingHead waiters_;  // of ReadinessWaiters
};

}  // namespace rouse::internal
