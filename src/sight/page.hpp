// tools/sight/page.html, which the build puts into the library (cmake/embed_page.cmake).
#pragma once

#include <string_view>

namespace rouse::sight {

/// The page.
std::string_view page() noexcept;
/// Its Content-Security-Policy: it runs the script and has the style that are in it, by their
/// hashes, and asks only whoever served it.
std::string_view page_policy() noexcept;

}  // namespace rouse::sight
