// random_below: a cheap choice that nobody should be able to rely on.
#pragma once

#include <cstdint>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::internal {

/// One of 0 to n - 1, each as often as the others. The first thread that asks gets the same numbers
/// in each run, and so on. In a model always 0: what a model does must follow from its schedule.
ROUSE_API std::uint32_t random_below(std::uint32_t n) noexcept;

}  // namespace rouse::internal
