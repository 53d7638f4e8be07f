// Futures made of futures. A contents page.
#pragma once

#include "rouse/future/abortable.hpp"          // IWYU pragma: export
#include "rouse/future/and_then.hpp"           // IWYU pragma: export
#include "rouse/future/by_ref.hpp"             // IWYU pragma: export
#include "rouse/future/futures_ordered.hpp"    // IWYU pragma: export
#include "rouse/future/futures_unordered.hpp"  // IWYU pragma: export
#include "rouse/future/join.hpp"               // IWYU pragma: export
#include "rouse/future/join_all.hpp"           // IWYU pragma: export
#include "rouse/future/lazy.hpp"               // IWYU pragma: export
#include "rouse/future/map.hpp"                // IWYU pragma: export
#include "rouse/future/pending_forever.hpp"    // IWYU pragma: export
#include "rouse/future/poll_fn.hpp"            // IWYU pragma: export
#include "rouse/future/race.hpp"               // IWYU pragma: export
#include "rouse/future/ready.hpp"              // IWYU pragma: export
#include "rouse/future/select.hpp"             // IWYU pragma: export
#include "rouse/future/select_all.hpp"         // IWYU pragma: export
#include "rouse/future/select_ok.hpp"          // IWYU pragma: export
#include "rouse/future/try_join.hpp"           // IWYU pragma: export
#include "rouse/future/unconstrained.hpp"      // IWYU pragma: export
#include "rouse/future/yield_now.hpp"          // IWYU pragma: export
