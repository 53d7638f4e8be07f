// The figures of all executors, written without malloc.
#pragma once

#include "sight/out.hpp"

namespace rouse::sight {

/// In the text format of Prometheus, version 0.0.4.
void write_metrics(Out& out);

/// What was polled in watched mode by the place where it was spawned, all executors together, the
/// busiest first. As JSON:
///   {"format": 1, "sites": [{"spawned": {"file", "line", "column", "function"}, "name",
///    "tasks", "polls", "busy_ns", "longest_ns", "longest_at": {"file", ...}}, ...],
///    "others": {"tasks", "polls", "busy_ns", "longest_ns"}}
/// `spawned` may be {"module", "offset"} instead, or missing: nobody knows. `name` is that of the
/// first task from there, `tasks` how many have ended, `longest_at` the await at which the longest
/// poll stopped. `others`: for which there was no room.
void write_sites(Out& out);

}  // namespace rouse::sight
