// The sys seam, what another thread of this process does, as the system sees it. See
// src/sys/README.md.
#pragma once

#include <cstdint>

#include "sys/thread.hpp"

namespace rouse::sys {

struct ThreadState {
  enum class Does : std::uint8_t {
    unknown,  ///< the thread is gone, or the system does not say
    runs,     ///< or waits for a CPU
    waits,    ///< in the system
  };
  Does does = Does::unknown;
  /// The call in which it waits; -1: in none, or a filter hides it.
  long system_call = -1;
  std::uint64_t first_argument = 0;
};
/// Needs no memory.
ThreadState thread_state(ThreadId thread) noexcept;

/// How long a thread was on a CPU so far, and how long it waited for one.
struct ThreadTimes {
  std::uint64_t on_cpu_ns = 0;
  std::uint64_t waiting_ns = 0;
};
/// Zeros if the system does not say. Needs no memory.
ThreadTimes thread_times(ThreadId thread) noexcept;

struct SystemCall {
  const char* name = nullptr;     ///< null: one that is not in the table
  bool takes_descriptor = false;  ///< as its first argument
};
SystemCall describe_system_call(long number) noexcept;

}  // namespace rouse::sys
