#include "sys/ticks.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "rouse/base/thread.hpp"

namespace rouse::sys {

constinit TickRate tick_rate;

namespace {

/// Whether the counter runs at one rate, whatever the CPU does, and is the same on all cores.
bool has_steady_counter() noexcept {
#if defined(__x86_64__)
  constexpr unsigned power_management = 0x80000007;
  constexpr unsigned invariant = 1U << 8;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(power_management, &a, &b, &c, &d) != 0 && (d & invariant) != 0;
#else
  return tick_counter() != 0;
#endif
}

/// The same moment by both clocks.
struct Moment {
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;
};

/// The best of some: between two readings this thread may have lost its CPU.
Moment now_by_both() noexcept {
  Moment best;
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = tick_counter();
    const std::uint64_t ns = monotonic_ns();
    const std::uint64_t took = tick_counter() - before;
    if (took >= least) continue;
    least = took;
    best = {.ticks = before + took / 2, .ns = ns};
  }
  return best;
}

constexpr std::uint64_t compared_ns = 1'000'000;

}  // namespace

void prepare_ticks() noexcept {
  static constinit Mutex mutex;
  static bool is_prepared = false;
  const Lock lock(mutex);
  if (is_prepared) return;
  is_prepared = true;
  if (!has_steady_counter()) return;
  const Moment begin = now_by_both();
  Moment end = begin;
  while (end.ns - begin.ns < compared_ns) end = now_by_both();
  const std::uint64_t ticks = end.ticks - begin.ticks;
  // A counter slower than a microsecond a tick says nothing of a poll.
  if (ticks < compared_ns / 1000) return;
  __extension__ using Wide = unsigned __int128;
  tick_rate.ns_times_2_32 = static_cast<std::uint64_t>((Wide{end.ns - begin.ns} << 32) / ticks);
  tick_rate.has_counter = true;
}

}  // namespace rouse::sys
