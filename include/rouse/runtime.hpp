// The runtime: executor, timers and I/O as one. A contents page.
#pragma once

#include "rouse/runtime/join_set.hpp"  // IWYU pragma: export
#include "rouse/runtime/run.hpp"       // IWYU pragma: export
#include "rouse/runtime/runtime.hpp"   // IWYU pragma: export
