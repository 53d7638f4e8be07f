// Where a call was made to fail: the place in the library that made it. check_table.py compares
// these with all the places that call a wrapped function.
#pragma once

#include <string_view>

namespace rouse::faulty {

/// Takes note of who called the wrapper that asks; a signal handler may.
void note_call_site(std::string_view call, int error) noexcept;

}  // namespace rouse::faulty
