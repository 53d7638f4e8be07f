#include "sys/cpu.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <sched.h>

#include "sys/linux/cgroup.hpp"

namespace rouse::sys {
namespace {

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};

/// CPUs that this thread may be scheduled on. The kernel says EINVAL while the set is too small.
std::size_t cpus_of_affinity() {
  constexpr std::size_t absurd = std::size_t{1} << 22;
  for (std::size_t room = 1024; room <= absurd; room *= 2) {
    const std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(room));
    if (!set) return 1;
    const std::size_t bytes = CPU_ALLOC_SIZE(room);
    if (::sched_getaffinity(0, bytes, set.get()) == 0) {
      return static_cast<std::size_t>(CPU_COUNT_S(bytes, set.get()));
    }
    if (errno != EINVAL) return 1;
  }
  return 1;
}

}  // namespace

std::size_t available_cpus() noexcept {
  const std::size_t cpus = std::max<std::size_t>(cpus_of_affinity(), 1);
  try {
    return std::clamp<std::size_t>(cgroup_cpu_limit("").value_or(cpus), 1, cpus);
  } catch (...) {
    return cpus;  // no memory to read the files: no limit
  }
}

}  // namespace rouse::sys
