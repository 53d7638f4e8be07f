// The sys seam, fork: a forked child has one thread only, so whatever needs others must notice. See
// src/sys/README.md.
#pragma once

#include <cstdint>

namespace rouse::sys {

/// How often this process and those it was forked from have been forked since the first call.
std::uint32_t process_forks() noexcept;

/// From now on every fork() calls `before`, in the thread that forks, and after it `in_parent` or
/// `in_child`. Those registered first come last before, and first after. False: no memory for that.
bool at_process_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

}  // namespace rouse::sys
