// Running tasks: executors, spawn, fork/join, blocking calls. A contents page.
#pragma once

#include "rouse/exec/block_in_place.hpp"  // IWYU pragma: export
#include "rouse/exec/block_on.hpp"        // IWYU pragma: export
#include "rouse/exec/blocking_pool.hpp"   // IWYU pragma: export
#include "rouse/exec/enter_guard.hpp"     // IWYU pragma: export
#include "rouse/exec/join_handle.hpp"     // IWYU pragma: export
#include "rouse/exec/local_executor.hpp"  // IWYU pragma: export
#include "rouse/exec/local_set.hpp"       // IWYU pragma: export
#include "rouse/exec/parallel.hpp"        // IWYU pragma: export
#include "rouse/exec/parallel_all.hpp"    // IWYU pragma: export
#include "rouse/exec/parallel_for.hpp"    // IWYU pragma: export
#include "rouse/exec/park.hpp"            // IWYU pragma: export
#include "rouse/exec/pool_metrics.hpp"    // IWYU pragma: export
#include "rouse/exec/scope.hpp"           // IWYU pragma: export
#include "rouse/exec/spawn_local.hpp"     // IWYU pragma: export
#include "rouse/exec/spawner.hpp"         // IWYU pragma: export
#include "rouse/exec/task_builder.hpp"    // IWYU pragma: export
#include "rouse/exec/task_id.hpp"         // IWYU pragma: export
#include "rouse/exec/task_local.hpp"      // IWYU pragma: export
#include "rouse/exec/this_task.hpp"       // IWYU pragma: export
#include "rouse/exec/thread_pool.hpp"     // IWYU pragma: export
#include "rouse/exec/unhandled.hpp"       // IWYU pragma: export
