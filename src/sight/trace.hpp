// The trace: what the recorder (base/recorder.hpp) has, as a file for ui.perfetto.dev and
// chrome://tracing: JSON in the format of Chrome's trace events.
#pragma once

#include "sight/out.hpp"

namespace rouse::sight {

/// Without malloc. Without a recording the trace is empty. What there is no memory for is left out.
void write_trace(Out& out) noexcept;

/// For the thread of sight, after a slow poll: writes the file that Options::trace_on_slow_poll
/// named, if it did; at most one every ten seconds.
void trace_after_slow_poll() noexcept;

}  // namespace rouse::sight
