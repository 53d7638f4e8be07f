#include "sys/clock.hpp"

#include "rouse/model/internal/hooks.hpp"

namespace rouse::sys {

std::uint64_t monotonic_ns() noexcept { return model::clock_ns(); }
std::int64_t unix_seconds() noexcept {
  return static_cast<std::int64_t>(model::clock_ns() / 1'000'000'000);
}

}  // namespace rouse::sys
