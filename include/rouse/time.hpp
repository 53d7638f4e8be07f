// Sleeping, intervals, timeouts, and a clock that tests can pause. A contents page.
#pragma once

#include "rouse/time/delay_queue.hpp"  // IWYU pragma: export
#include "rouse/time/instant.hpp"      // IWYU pragma: export
#include "rouse/time/interval.hpp"     // IWYU pragma: export
#include "rouse/time/pause.hpp"        // IWYU pragma: export
#include "rouse/time/sleep.hpp"        // IWYU pragma: export
#include "rouse/time/timeout.hpp"      // IWYU pragma: export
