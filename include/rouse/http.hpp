// HTTP/1.1, of the component rouse::http. A contents page.
#pragma once

#include "rouse/http/body.hpp"      // IWYU pragma: export
#include "rouse/http/error.hpp"     // IWYU pragma: export
#include "rouse/http/headers.hpp"   // IWYU pragma: export
#include "rouse/http/method.hpp"    // IWYU pragma: export
#include "rouse/http/request.hpp"   // IWYU pragma: export
#include "rouse/http/response.hpp"  // IWYU pragma: export
#include "rouse/http/status.hpp"    // IWYU pragma: export
