// Testing futures by hand. A contents page.
#pragma once

#include "rouse/testing/counting_waker.hpp"     // IWYU pragma: export
#include "rouse/testing/drop_at_each_poll.hpp"  // IWYU pragma: export
#include "rouse/testing/gate.hpp"               // IWYU pragma: export
#include "rouse/testing/poll_harness.hpp"       // IWYU pragma: export
