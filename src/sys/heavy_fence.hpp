// The sys seam, the dear half of an asymmetric fence: see light_fence in base/atomic.hpp, and
// src/sys/README.md.
#pragma once

namespace rouse::sys {

/// The kernel is told that this process will use it. The first time that takes milliseconds, unless
/// it has one thread only.
void prepare_heavy_fence() noexcept;

/// A seq_cst fence on every thread of this process at once, some time between the call and its
/// return. Interrupts all that run: microseconds. False: it was not prepared, or the kernel has no
/// such thing.
[[nodiscard]] bool heavy_fence() noexcept;

}  // namespace rouse::sys
