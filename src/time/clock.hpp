// Clock: the time of one runtime. It runs with the system's clock until a test pauses it: then it
// stands still and moves only when told to. After `resume` it continues from where it stood.
//
// Any thread may read it. Pausing, jumping and resuming are for one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rouse/base/atomic.hpp"
#include "rouse/time/instant.hpp"

#include "sys/clock.hpp"

namespace rouse::time {

class Clock {
 public:
  Clock() noexcept = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  [[nodiscard]] Instant now() const noexcept {
    // ORDER: acquire; sees the offset that was stored when the clock was resumed.
    const std::int64_t stands_at = stands_at_.load(memory_order_acquire);
    return stands_at == running ? running_time() : Instant(Nanoseconds(stands_at));
  }
  [[nodiscard]] bool is_paused() const noexcept {
    return stands_at_.load(memory_order_relaxed) != running;
  }

  /// Stands still from now on, at a full tick: so a sleep of some milliseconds takes just these.
  void pause() noexcept {
    const std::int64_t now = running_time().time_since_epoch().count();
    const std::int64_t since_tick = now % resolution.count();
    const Nanoseconds rest(since_tick == 0 ? 0 : resolution.count() - since_tick);
    stands_at_.store(add(Instant(Nanoseconds(now)), rest).time_since_epoch().count(),
                     memory_order_relaxed);
  }
  /// A paused clock goes on to `time`, if that is not in its past.
  void jump(Instant time) noexcept {
    const std::int64_t to = time.time_since_epoch().count();
    stands_at_.store(std::max(stands_at_.load(memory_order_relaxed), to), memory_order_relaxed);
  }
  void resume() noexcept {
    const std::int64_t real = system_time();
    offset_.store(stands_at_.load(memory_order_relaxed) - real, memory_order_relaxed);
    // ORDER: release; publishes the offset.
    stands_at_.store(running, memory_order_release);
  }

 private:
  static constexpr std::int64_t running = -1;
  static std::int64_t system_time() noexcept {
    return static_cast<std::int64_t>(sys::monotonic_ns());
  }
  [[nodiscard]] Instant running_time() const noexcept {
    return add(Instant(Nanoseconds(system_time())),
               Nanoseconds(offset_.load(memory_order_relaxed)));
  }

  atomic<std::int64_t> stands_at_{running};  // nanoseconds, while it is paused
  atomic<std::int64_t> offset_{0};           // how far it is ahead of the system's clock
};

}  // namespace rouse::time
