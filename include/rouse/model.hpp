// The model checker, and the seam through which it sees atomics, locks and threads. A contents
// page.
#pragma once

#include "rouse/base/atomic.hpp"     // IWYU pragma: export
#include "rouse/base/cell.hpp"       // IWYU pragma: export
#include "rouse/base/thread.hpp"     // IWYU pragma: export
#include "rouse/model/block_on.hpp"  // IWYU pragma: export
#include "rouse/model/model.hpp"     // IWYU pragma: export
