// An executor without heap and threads. A contents page.
#pragma once

#include "rouse/embedded/static_executor.hpp"  // IWYU pragma: export
