// The sys seam, signals: they are counted, by number, and a descriptor tells that one was. See
// src/sys/README.md.
#pragma once

#include <cstdint>
#include <span>

#include "rouse/base/result.hpp"

namespace rouse::sys {

/// From now on the signal no longer does what it did by default: it is counted. A handler that was
/// there before is called still. Errors: invalid_argument if `number` is no signal or one that
/// can't or must not be caught.
Result<void> count_signal(int number) noexcept;
/// How often it came since then.
std::uint64_t signal_count(int number) noexcept;
/// Each counted signal is an edge: "readable". One for the process, never closed, never read. After
/// the first count_signal that succeeded.
int signal_event() noexcept;

/// From now on this thread takes, of the signals that are sent to the process, only these: the
/// others are for other threads. (And those that tell of a fault of its own.)
void take_only_signals(std::span<const int> numbers) noexcept;

}  // namespace rouse::sys
