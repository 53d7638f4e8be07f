#include "rouse/runtime/rate_limiter.hpp"

#include <algorithm>

#include "rouse/base/assert.hpp"

namespace rouse {

RateLimiter::RateLimiter(std::uint32_t tokens, std::chrono::nanoseconds period, std::uint32_t burst)
    : tokens_(tokens), burst_(burst), period_(period), full_at_(time::Instant::min()) {
  ROUSE_ASSERT(tokens > 0 && period > std::chrono::nanoseconds(0) && burst > 0,
               "RateLimiter(tokens, period, burst): each of them must be more than 0");
  ROUSE_ASSERT(period.count() / tokens < INT64_MAX / 2 / burst,
               "RateLimiter: the tokens of a burst would take centuries to come");
}

void RateLimiter::check(std::uint32_t n) const noexcept {
  ROUSE_ASSERT(n <= burst_,
               "acquire(n) of more tokens than the burst of a RateLimiter would wait "
               "for ever: take them in parts, or allow a larger burst");
}

/// Rounded up, so that the rate is never above what was said. No overflow: `n` is at most the
/// burst.
std::chrono::nanoseconds RateLimiter::time_of(std::uint32_t n) const noexcept {
  const std::int64_t whole = period_.count() / tokens_;
  const auto rest = static_cast<std::uint64_t>(period_.count() % tokens_);
  const std::uint64_t part = (n * rest + tokens_ - 1) / tokens_;
  return std::chrono::nanoseconds(n * whole + static_cast<std::int64_t>(part));
}

std::optional<time::Instant> RateLimiter::take(std::uint32_t n) noexcept {
  const time::Instant now = time::now();
  const internal::SpinGuard guard(lock_);
  const time::Instant full_at = std::max(full_at_, now) + time_of(n);
  const time::Instant there_at = full_at - time_of(burst_);
  if (there_at > now) return there_at;
  full_at_ = full_at;
  return std::nullopt;
}

bool RateLimiter::try_acquire(std::uint32_t n) {
  check(n);
  return turn_.available_permits() != 0 && !take(n);
}

}  // namespace rouse
