// System threads whose end can be awaited. A contents page.
#pragma once

#include "rouse/thread/thread.hpp"  // IWYU pragma: export
