// The sys seam, console: the last words of a process. See src/sys/README.md for the seam's rules.
#pragma once

#include <string_view>

namespace rouse::sys {

/// Writes all of `text` to standard error, as far as that is possible.
void write_stderr(std::string_view text) noexcept;

[[noreturn]] void abort_process() noexcept;

}  // namespace rouse::sys
