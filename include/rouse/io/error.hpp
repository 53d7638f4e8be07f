// io::Error: what can go wrong in rouse's own I/O besides what the system reports.
//
//   if (r.error() == io::Error::unexpected_end) ...
#pragma once

#include <system_error>

#include "rouse/base/attributes.hpp"

namespace rouse::io {

enum class Error {
  unexpected_end = 1,  ///< the stream ended in the midst of what was to be read
  write_zero,          ///< a writer takes no more bytes
  too_long,            ///< a line, a frame or all of the input is longer than allowed
  invalid_data,        ///< what was read is not what it should be: a frame's head, a character
  not_pollable,        ///< a descriptor that can't be waited for: a regular file, /dev/null
  runtime_ended,       ///< the runtime that this waits in has been shut down
};

ROUSE_API const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(Error error) noexcept {
  return {static_cast<int>(error), error_category()};
}

}  // namespace rouse::io

template <>
struct std::is_error_code_enum<rouse::io::Error> : std::true_type {};
