// sight::SlowPoll: a poll that takes long, told while it lasts: which task, at which line, and what
// its thread does. See Options::slow_poll (options.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/exec/task_id.hpp"

namespace rouse::sight {

/// What a thread in a long poll does.
enum class Doing : std::uint8_t {
  unknown,      ///< the system does not say
  computing,    ///< it runs
  blocked,      ///< it waits in the system
  without_cpu,  ///< it could run, but other threads have the CPUs
};

/// What it refers to is there during the call that gets it.
struct ROUSE_API SlowPoll {
  TaskId task = 0;
  const char* name = nullptr;              ///< null: it has none
  std::source_location spawned_at = {};    ///< line 0: by a call that does not know
  std::uintptr_t spawned_by = 0;           ///< the address of that call; 0: nobody knows
  std::chrono::nanoseconds duration = {};  ///< so far; it may have begun a look earlier
  Doing doing = Doing::unknown;
  int system_call = -1;                    ///< in which it is blocked; -1: nobody knows
  const char* system_call_name = nullptr;  ///< null: nobody knows
  int descriptor = -1;                     ///< that it waits for; -1: none
  /// Where the task is: the innermost await first. It is beyond that one, in the coroutine that the
  /// location names, or, before the first await, at its beginning. Empty: it runs no coroutine.
  std::span<const std::source_location> awaits;
  std::size_t awaits_left_out = 0;  ///< before the last eight
  /// Addresses of code, the innermost first.
  std::span<const std::uintptr_t> stack;
  std::uint64_t not_told = 0;  ///< slow polls since the last one that was told

  /// As it is written to standard error.
  [[nodiscard]] std::string text() const;
};

}  // namespace rouse::sight
