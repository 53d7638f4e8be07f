// Signals of the operating system. A contents page.
#pragma once

#include "rouse/signal/kind.hpp"    // IWYU pragma: export
#include "rouse/signal/signal.hpp"  // IWYU pragma: export
