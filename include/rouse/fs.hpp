// Files and directories. A contents page.
#pragma once

#include "rouse/fs/file.hpp"        // IWYU pragma: export
#include "rouse/fs/metadata.hpp"    // IWYU pragma: export
#include "rouse/fs/operations.hpp"  // IWYU pragma: export
#include "rouse/fs/read_dir.hpp"    // IWYU pragma: export
