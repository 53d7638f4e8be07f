// RateLimiter: at most so much in a time, and so much at once. A token bucket.
//
//   RateLimiter requests(100, 1s, 10);        // 100 a second, and after a pause up to 10 at once
//   co_await requests.acquire();              // waits for its turn; nothing is given back
//
// Fair: first come, first served, even if a later one wants fewer tokens. Reads time::now(), so a
// paused clock (time/pause.hpp) works. A wait ends at a tick of the timers, a millisecond: for more
// than 1,000 a second let the burst be what comes in some milliseconds, or more.
//
// The bucket is one time (GCRA): `full_at_`, when it would be full again if nobody came. To take n
// tokens moves it on by the time that n tokens take to come; it may be at most the time of a whole
// burst ahead of now. It belongs to whoever holds `turn_`, a semaphore of one permit; only the
// first in line waits for time to pass.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/internal/live.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/sync/semaphore.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse {

/// Must outlive its futures.
/// Threads: any.
class ROUSE_API RateLimiter {
 public:
  class Acquire;

  /// `tokens` in each `period`, and at most `burst` at once; it begins full. All at least 1.
  RateLimiter(std::uint32_t tokens, std::chrono::nanoseconds period, std::uint32_t burst);
  /// The same with a burst of all tokens of a period.
  RateLimiter(std::uint32_t tokens, std::chrono::nanoseconds period)
      : RateLimiter(tokens, period, tokens) {}

  /// Takes `n` tokens, at most the burst. Completes when all who came before are served and n
  /// tokens are there. Borrows the limiter. Cancel safety: dropping it gives up its place in the
  /// queue and takes nothing. Threads: any thread of a runtime. Errors: none.
  [[nodiscard]] Acquire acquire(std::uint32_t n = 1);
  /// Takes `n` tokens if they are there and nobody waits.
  [[nodiscard]] bool try_acquire(std::uint32_t n = 1);

  /// The most that can be taken at once.
  [[nodiscard]] std::uint32_t burst() const noexcept { return burst_; }

 private:
  void check(std::uint32_t n) const noexcept;
  /// How long so many tokens take to come.
  [[nodiscard]] std::chrono::nanoseconds time_of(std::uint32_t n) const noexcept;
  /// Nothing: taken. Else when they will be there.
  std::optional<time::Instant> take(std::uint32_t n) noexcept;

  sync::Semaphore turn_{1};  // of those who wait
  const std::uint32_t tokens_;
  const std::uint32_t burst_;
  const std::chrono::nanoseconds period_;
  internal::SpinLock lock_;  // guards full_at_
  time::Instant full_at_;
};

class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] RateLimiter::Acquire {
 public:
  using Output = void;

  Acquire(RateLimiter& limiter, std::uint32_t n) noexcept
      : limiter_(&limiter), n_(n), queue_(std::in_place, limiter.turn_.acquire()) {}

  Poll<> poll(Context& cx) {
    ROUSE_ASSERT(live_, "acquire() of a RateLimiter was polled after it was ready or moved from");
    if (queue_) {
      auto first = (*queue_).poll_result(cx);
      if (first.is_pending()) return pending;
      turn_ = std::move(first).value().value();  // the semaphore is never closed
      queue_.reset();
    }
    while (const auto there_at = limiter_->take(n_)) {
      if (waits_ && (*waits_).deadline() != *there_at) waits_.reset();
      if (!waits_) waits_.emplace(*there_at);
      if ((*waits_).poll(cx).is_pending()) return pending;
    }
    turn_.release();
    live_.end();
    return Poll<>::ready();
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Acquire, "rate_limiter", one, &Acquire::queue_, &Acquire::waits_)

 private:
  RateLimiter* limiter_;
  std::uint32_t n_;
  internal::Live live_;
  internal::Maybe<sync::Acquire> queue_;  // until it is the first in line
  sync::Permit turn_{nullptr, 0};         // from then on
  internal::Maybe<Sleep> waits_;
};

inline RateLimiter::Acquire RateLimiter::acquire(std::uint32_t n) {
  check(n);
  return Acquire(*this, n);
}

}  // namespace rouse
