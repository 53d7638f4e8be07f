// Child processes. A contents page.
#pragma once

#include "rouse/process/child.hpp"        // IWYU pragma: export
#include "rouse/process/child_stdio.hpp"  // IWYU pragma: export
#include "rouse/process/command.hpp"      // IWYU pragma: export
#include "rouse/process/exit_status.hpp"  // IWYU pragma: export
#include "rouse/process/output.hpp"       // IWYU pragma: export
