#include "rouse/time/retry.hpp"

#include <cmath>

#include "rouse/base/internal/random.hpp"

namespace rouse {

RetryPolicy& RetryPolicy::initial_delay(std::chrono::nanoseconds delay) noexcept {
  ROUSE_ASSERT(delay >= std::chrono::nanoseconds(0), "RetryPolicy: a delay can't be negative");
  initial_delay_ = delay;
  return *this;
}
RetryPolicy& RetryPolicy::factor(double by) noexcept {
  ROUSE_ASSERT(by >= 1, "RetryPolicy: factor(by) needs at least 1, or waits would get shorter");
  factor_ = by;
  return *this;
}
RetryPolicy& RetryPolicy::max_delay(std::chrono::nanoseconds delay) noexcept {
  ROUSE_ASSERT(delay >= std::chrono::nanoseconds(0), "RetryPolicy: a delay can't be negative");
  max_delay_ = delay;
  return *this;
}
RetryPolicy& RetryPolicy::jitter(bool full) noexcept {
  jitter_ = full;
  return *this;
}
RetryPolicy& RetryPolicy::max_attempts(std::uint32_t count) noexcept {
  ROUSE_ASSERT(count > 0, "RetryPolicy: max_attempts(0) could try nothing: allow at least 1");
  max_attempts_ = count;
  return *this;
}
RetryPolicy& RetryPolicy::max_elapsed(std::chrono::nanoseconds time) noexcept {
  max_elapsed_ = time;
  return *this;
}
RetryPolicy& RetryPolicy::retry_if(Function<bool(const std::error_code&)> is_worth_it) noexcept {
  retry_if_ = std::move(is_worth_it);
  return *this;
}
RetryPolicy& RetryPolicy::seed(std::uint64_t number) noexcept {
  seed_ = number;
  return *this;
}

std::chrono::nanoseconds RetryPolicy::longest_delay(std::uint32_t failures) const noexcept {
  auto delay = static_cast<double>(initial_delay_.count());
  const auto most = static_cast<double>(max_delay_.count());
  if (failures > 1 && delay > 0) delay *= std::pow(factor_, failures - 1);  // may be infinite
  if (delay >= most) return max_delay_;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(delay));
}

namespace {

/// SplitMix64: the next of a sequence that differs for each seed.
std::uint64_t next_random(std::uint64_t& state) noexcept {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// Also of two programs that begin alike: the clock and where memory lies differ.
std::uint64_t any_seed(const void* of) noexcept {
  auto seed = static_cast<std::uint64_t>(time::now().time_since_epoch().count());
  seed ^= next_random(seed) + reinterpret_cast<std::uintptr_t>(of);
  return next_random(seed) ^ internal::random_below(UINT32_MAX);
}

}  // namespace

RetryState::RetryState(RetryPolicy policy) noexcept
    : policy_(std::move(policy)), random_(policy_.seed_ ? *policy_.seed_ : any_seed(this)) {}

void RetryState::begin() noexcept {
  if (failures_ == 0) began_ = time::now();
}

std::optional<time::Instant> RetryState::next(const std::error_code& error) {
  if (++failures_ >= policy_.max_attempts_) return std::nullopt;
  if (policy_.retry_if_ && !policy_.retry_if_(error)) return std::nullopt;
  std::chrono::nanoseconds delay = policy_.longest_delay(failures_);
  if (policy_.jitter_) {
    const auto most = static_cast<std::uint64_t>(delay.count()) + 1;
    delay = std::chrono::nanoseconds(static_cast<std::int64_t>(next_random(random_) % most));
  }
  const time::Instant at = time::add(time::now(), delay);
  if (at > time::add(began_, policy_.max_elapsed_)) return std::nullopt;
  return at;
}

}  // namespace rouse
