// Sight: what a running program does.
#pragma once

#include "rouse/sight/dump.hpp"           // IWYU pragma: export
#include "rouse/sight/metrics.hpp"        // IWYU pragma: export
#include "rouse/sight/name.hpp"           // IWYU pragma: export
#include "rouse/sight/options.hpp"        // IWYU pragma: export
#include "rouse/sight/slow_poll.hpp"      // IWYU pragma: export
#include "rouse/sight/span.hpp"           // IWYU pragma: export
#include "rouse/sight/start.hpp"          // IWYU pragma: export
#include "rouse/sight/stuck.hpp"          // IWYU pragma: export
#include "rouse/sight/trace.hpp"          // IWYU pragma: export
#include "rouse/sight/trace_context.hpp"  // IWYU pragma: export
