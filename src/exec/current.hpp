// Whose task is running on this thread: the one thread-local of exec. Only for functions that are
// not coroutines: a compiler may keep a thread-local's address across a suspension point.
#pragma once

#include "rouse/exec/scheduler.hpp"

namespace rouse {

extern constinit thread_local Scheduler* current_on_thread;

}  // namespace rouse
