// sight::metrics_text: what all executors of the process have done and hold, in the text format
// that Prometheus reads.
//
//   const auto sight = sight::start(sight::Options().watch());   // histograms, too
//   respond(sight::metrics_text());                              // text/plain; version=0.0.4
//
// The guide, part 17, has a table of all metrics. Those of one executor, as numbers: `metrics()` of
// Runtime, ThreadPool and LocalExecutor.
#pragma once

#include <string>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::sight {

/// Each figure is correct at some moment, not all at the same.
/// Threads: any, also inside a task.
[[nodiscard]] ROUSE_API std::string metrics_text();

}  // namespace rouse::sight
