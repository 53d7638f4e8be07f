// http::sight_pages: what the inspector of sight shows (<rouse/sight/start.hpp>), by a server of
// the program.
//
//   routes.get("/sight/{rest...}", http::sight_pages());     // the page is at /sight/
//
// It tells whoever reaches it the names, places and addresses of all tasks: have it on a listener
// of its own, or ask who comes first. While every worker is stuck it does not answer, unlike the
// thread of sight; and watching is what that thread begins.
#pragma once

#include "rouse/base/internal/attributes.hpp"
#include "rouse/http/handler.hpp"

namespace rouse::http {

/// For a route that ends in {rest...}: the page, and /dump, /metrics, /sites, /slow and /trace
/// below it.
[[nodiscard]] ROUSE_API Handler sight_pages();

}  // namespace rouse::http
