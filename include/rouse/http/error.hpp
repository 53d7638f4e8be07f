// http::Error: errors of HTTP itself, besides those of io and of the system.
//
//   if (r.error() == http::Error::bad_message) ...
#pragma once

#include <system_error>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::http {

enum class Error {
  bad_header_name = 1,  ///< a name that no header field can have
  bad_header_value,     ///< a value with a CR, an LF, a NUL or another control character
  bad_target,           ///< a request target or a URL that is none
  bad_message,          ///< the peer sent something that is not HTTP, or not safely so
  head_too_long,        ///< the peer's request line or header fields are longer than allowed
  too_slow,             ///< the peer took longer than allowed, or reads or sends too little
  wrong_length,         ///< a body gave fewer or more bytes than its length said
  exchange_over,        ///< a body was read after its request was answered
  no_upgrade,           ///< the request does not ask for another protocol
};

ROUSE_API const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(Error error) noexcept {
  return {static_cast<int>(error), error_category()};
}

}  // namespace rouse::http

template <>
struct std::is_error_code_enum<rouse::http::Error> : std::true_type {};
