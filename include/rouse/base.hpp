// Vocabulary without async. A contents page.
#pragma once

#include "rouse/base/assert.hpp"    // IWYU pragma: export
#include "rouse/base/function.hpp"  // IWYU pragma: export
#include "rouse/base/ref_ptr.hpp"   // IWYU pragma: export
#include "rouse/base/result.hpp"    // IWYU pragma: export
#include "rouse/base/shape.hpp"     // IWYU pragma: export
