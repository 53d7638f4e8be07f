// The sys seam, processors. See src/sys/README.md.
#pragma once

#include <cstddef>

namespace rouse::sys {

/// How many threads of this process can run at once: the CPUs it may run on, less if it has a quota
/// of CPU time (a container; 1.5 CPUs count as 2). At least 1.
std::size_t available_cpus() noexcept;

}  // namespace rouse::sys
