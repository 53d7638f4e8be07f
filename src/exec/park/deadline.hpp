// Deadline: a time that a wait must not pass. Any duration is valid, the greatest too.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rouse/base/internal/durations.hpp"
#include "rouse/base/thread.hpp"

#include "sys/clock.hpp"

namespace rouse::internal {

class Deadline {
 public:
  explicit Deadline(std::chrono::nanoseconds time) noexcept
      : at_(time == std::chrono::nanoseconds::max()
                ? never
                : sys::monotonic_ns() +
                      static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0))) {}

  /// Waits for a notification, until then at most. False: the time has passed.
  bool wait(CondVar& condition, Lock& lock) const {
    if (at_ == never) {
      condition.wait(lock);
      return true;
    }
    const std::uint64_t now = sys::monotonic_ns();
    if (now >= at_) return false;
    wait_for(condition, lock, std::chrono::nanoseconds(static_cast<std::int64_t>(at_ - now)));
    return true;
  }

  bool is_never() const noexcept { return at_ == never; }
  /// 0 once it has passed.
  std::chrono::nanoseconds left() const noexcept {
    if (at_ == never) return std::chrono::nanoseconds::max();
    const std::uint64_t now = sys::monotonic_ns();
    return std::chrono::nanoseconds(now < at_ ? static_cast<std::int64_t>(at_ - now) : 0);
  }

 private:
  static constexpr std::uint64_t never = UINT64_MAX;

  std::uint64_t at_;
};

}  // namespace rouse::internal
