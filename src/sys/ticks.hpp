// The sys seam, ticks: the clock that costs least, for measuring what takes nanoseconds. On x86-64
// and ARM64 it is a counter of the CPU that all cores share and that always runs at one rate; where
// the CPU has none it is the monotonic clock.
#pragma once

#include <cstdint>

#include "sys/clock.hpp"

namespace rouse::sys {

/// What the counter is worth.
struct TickRate {
  bool has_counter = false;
  std::uint64_t ns_times_2_32 = std::uint64_t{1} << 32;  // a tick
};
extern constinit TickRate tick_rate;

/// Compares the counter with the monotonic clock, which takes a millisecond. Before there are
/// threads that use it, or once; more often does nothing.
void prepare_ticks() noexcept;

#if defined(__x86_64__) || defined(__aarch64__)
inline std::uint64_t tick_counter() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  std::uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#endif
}
#else
inline std::uint64_t tick_counter() noexcept { return 0; }
#endif

/// Now, in ticks. After prepare_ticks.
inline std::uint64_t ticks() noexcept {
  return tick_rate.has_counter ? tick_counter() : monotonic_ns();
}
/// Nanoseconds between two of them; 0 if the clock of another core was behind.
inline std::uint64_t ns_between(std::uint64_t begin, std::uint64_t end) noexcept {
  if (end <= begin) return 0;
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{end - begin} * tick_rate.ns_times_2_32) >> 32);
}

}  // namespace rouse::sys
