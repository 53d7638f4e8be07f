// What programs need: a contents page of contents pages. Each includes the public headers of its
// layer, so a file that needs but one part includes that: <rouse/net.hpp>. Not here are the headers
// that few programs need, which <rouse/all.hpp> lists, and what only tests need:
// <rouse/testing.hpp> and <rouse/model.hpp>.
#pragma once

#include "rouse/base.hpp"      // IWYU pragma: export
#include "rouse/core.hpp"      // IWYU pragma: export
#include "rouse/embedded.hpp"  // IWYU pragma: export
#include "rouse/exec.hpp"      // IWYU pragma: export
#include "rouse/fs.hpp"        // IWYU pragma: export
#include "rouse/future.hpp"    // IWYU pragma: export
#include "rouse/io.hpp"        // IWYU pragma: export
#include "rouse/net.hpp"       // IWYU pragma: export
#include "rouse/process.hpp"   // IWYU pragma: export
#include "rouse/runtime.hpp"   // IWYU pragma: export
#include "rouse/signal.hpp"    // IWYU pragma: export
#include "rouse/stream.hpp"    // IWYU pragma: export
#include "rouse/sync.hpp"      // IWYU pragma: export
#include "rouse/thread.hpp"    // IWYU pragma: export
#include "rouse/time.hpp"      // IWYU pragma: export
#include "rouse/version.hpp"   // IWYU pragma: export
