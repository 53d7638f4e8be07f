// Tasks that wait for each other: locks, channels, cancellation. A contents page.
#pragma once

#include "rouse/sync/barrier.hpp"             // IWYU pragma: export
#include "rouse/sync/broadcast.hpp"           // IWYU pragma: export
#include "rouse/sync/cancellation_token.hpp"  // IWYU pragma: export
#include "rouse/sync/channel.hpp"             // IWYU pragma: export
#include "rouse/sync/closed.hpp"              // IWYU pragma: export
#include "rouse/sync/lock_guard.hpp"          // IWYU pragma: export
#include "rouse/sync/mutex.hpp"               // IWYU pragma: export
#include "rouse/sync/notify.hpp"              // IWYU pragma: export
#include "rouse/sync/once_cell.hpp"           // IWYU pragma: export
#include "rouse/sync/oneshot.hpp"             // IWYU pragma: export
#include "rouse/sync/receiver.hpp"            // IWYU pragma: export
#include "rouse/sync/rw_lock.hpp"             // IWYU pragma: export
#include "rouse/sync/semaphore.hpp"           // IWYU pragma: export
#include "rouse/sync/sender.hpp"              // IWYU pragma: export
#include "rouse/sync/task_tracker.hpp"        // IWYU pragma: export
#include "rouse/sync/watch.hpp"               // IWYU pragma: export
