// Alarm: one timer for all the time limits of a connection. Progress: whether a peer is too slow.
#pragma once

#include <cstddef>

#include "rouse/core/context.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/internal/timer_entry.hpp"

namespace rouse::http {

/// The limit moves with each request, the timer hardly ever: it rings at the earliest of the times
/// that were asked for, looks how late it is wanted by then, and is wound up again.
class Alarm {
 public:
  Alarm() noexcept : entry_(time::Instant::max()) {}

  /// Whether it is `at`, or later. If not, the task is woken then; perhaps also earlier.
  bool has_passed(Context& cx, time::Instant at) {
    if (at == time::Instant::max()) return false;
    if (at < entry_.deadline || entry_.has_fired()) entry_.reset(at);
    while (entry_.poll(cx)) {
      if (time::now() >= at) return true;
      entry_.reset(at);
    }
    return false;
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Alarm, nullptr, one, &Alarm::entry_)

 private:
  internal::TimerEntry entry_;
};

/// Of the time that is spent waiting for the peer, each stretch of a length must bring so many
/// bytes: so a silent peer ends like one that is slow on purpose, and one that has to wait for us
/// does not.
class Progress {
 public:
  Progress(time::Nanoseconds stretch, std::size_t bytes) noexcept
      : stretch_(stretch), wanted_(bytes) {}

  /// Another body, or another direction.
  void restart() noexcept {
    waited_ = time::Nanoseconds::zero();
    came_ = 0;
    is_waiting_ = false;
  }
  void add(std::size_t bytes) {
    stop_waiting();
    came_ += bytes;
    if (came_ >= wanted_) restart();
  }
  /// There is nothing to wait for at the moment.
  void stop_waiting() {
    if (is_waiting_) waited_ += time::now() - since_;
    is_waiting_ = false;
  }
  /// The same, but since when is not known: so nothing counts since `deadline` was last asked.
  void forget_waiting() noexcept { is_waiting_ = false; }
  /// The peer is waited for. Until when, at most.
  [[nodiscard]] time::Instant deadline() {
    const time::Instant now = time::now();
    if (is_waiting_) waited_ += now - since_;
    since_ = now;
    is_waiting_ = true;
    return time::add(since_, stretch_ - waited_);
  }

 private:
  time::Nanoseconds stretch_;
  std::size_t wanted_;
  time::Nanoseconds waited_{0};
  std::size_t came_ = 0;
  time::Instant since_{};
  bool is_waiting_ = false;
};

}  // namespace rouse::http
