// http::static_files: a handler that answers with the files below a folder.
//
//   routes.get("/files/{rest...}", http::static_files("public"));
//
// For a folder it gives its index.html. Whatever the path says, and whatever links there are, a
// file outside of the folder is a 404. So is a path in which a name begins with a dot, as in
// .git/config and .env; but not that of .well-known.
#pragma once

#include <string>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/http/handler.hpp"

namespace rouse::http {

/// For a route that ends in {rest...}. The folder is looked up at each request.
[[nodiscard]] ROUSE_API Handler static_files(std::string folder);

}  // namespace rouse::http
