// The poll model: futures, wakers, coroutines. A contents page.
#pragma once

#include "rouse/core/any_future.hpp"       // IWYU pragma: export
#include "rouse/core/async.hpp"            // IWYU pragma: export
#include "rouse/core/async_result.hpp"     // IWYU pragma: export
#include "rouse/core/async_stream.hpp"     // IWYU pragma: export
#include "rouse/core/atomic_waker.hpp"     // IWYU pragma: export
#include "rouse/core/borrowed.hpp"         // IWYU pragma: export
#include "rouse/core/context.hpp"          // IWYU pragma: export
#include "rouse/core/exception_trace.hpp"  // IWYU pragma: export
#include "rouse/core/future.hpp"           // IWYU pragma: export
#include "rouse/core/poll.hpp"             // IWYU pragma: export
#include "rouse/core/result_future.hpp"    // IWYU pragma: export
#include "rouse/core/stream.hpp"           // IWYU pragma: export
#include "rouse/core/unit.hpp"             // IWYU pragma: export
#include "rouse/core/waker.hpp"            // IWYU pragma: export
