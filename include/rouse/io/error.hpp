// io::Error: errors of rouse's own I/O, besides those of the system.
//
//   if (r.error() == io::Error::unexpected_eof) ...
#pragma once

#include <system_error>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::io {

enum class Error {
  unexpected_eof = 1,  ///< end of file in the middle of what was to be read
  write_zero,          ///< a writer accepts no more bytes
  too_long,            ///< a line, a frame or all of the input is longer than allowed
  invalid_data,        ///< malformed input: a frame's head, a character
  not_pollable,        ///< a descriptor without readiness: a regular file, /dev/null
  runtime_ended,       ///< the runtime of this object has been shut down
};

ROUSE_API const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(Error error) noexcept {
  return {static_cast<int>(error), error_category()};
}

/// Whether a call failed only because it would block.
[[nodiscard]] ROUSE_API bool would_block(std::error_code error) noexcept;

}  // namespace rouse::io

template <>
struct std::is_error_code_enum<rouse::io::Error> : std::true_type {};
