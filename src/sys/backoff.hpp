// The sys seam, waiting without knowing for whom. See src/sys/README.md.
#pragma once

namespace rouse::sys {

/// Lets other threads run. The first few times the processor is offered to them, then the thread
/// sleeps, longer from attempt to attempt, at most a millisecond: so also a thread of less priority
/// gets its turn.
void back_off(unsigned attempt) noexcept;

}  // namespace rouse::sys
