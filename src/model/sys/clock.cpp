#include "sys/clock.hpp"

#include "rouse/model/internal/hooks.hpp"

namespace rouse::sys {

std::uint64_t monotonic_ns() noexcept { return model::clock_ns(); }

}  // namespace rouse::sys
