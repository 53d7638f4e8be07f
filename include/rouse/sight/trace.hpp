// sight::write_trace: what the program did of late, for ui.perfetto.dev or chrome://tracing: who
// was polled when and where, who woke whom, what was stolen, when workers slept.
//
//   const auto sight = sight::start(sight::Options().record());
//   ...
//   sight::write_trace("trace.json");
//
// Each thread keeps its last events in memory of a fixed size, and overwrites the oldest: so it may
// run always, and the trace is there when something has gone wrong. What a program may add itself:
// sight/span.hpp.
#pragma once

#include <string>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"

namespace rouse::sight {

/// Writes what there is to a descriptor, as JSON. While nothing is recorded the trace is empty.
/// Needs no memory but pages of its own, and no worker.
/// Threads: any.
/// Errors: those of write(2).
ROUSE_API Result<void> trace_to(int fd) noexcept;

/// Writes it to a file for the user alone (0600). It appears under its name when it is whole, and
/// replaces one that was there.
/// Threads: any.
/// Errors: those of open(2), write(2) and rename(2); filename_too_long.
ROUSE_API Result<void> write_trace(const std::string& path) noexcept;

}  // namespace rouse::sight
