// net::Error: why a text is not an address. Each also equals std::errc::invalid_argument:
//
//   auto addr = net::SocketAddr::parse("localhost");
//   if (addr.error() == net::Error::missing_port) ...
//   if (addr.error() == std::errc::invalid_argument) ...
#pragma once

#include <system_error>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::net {

enum class Error {
  bad_ip = 1,           ///< not an IPv4 or IPv6 address
  missing_port,         ///< an address or host without ":port"
  bad_port,             ///< a port that is not a number from 0 to 65535
  bad_scope,            ///< not an interface number after '%'
  ipv6_needs_brackets,  ///< "::1:80": which part is the port?
  unclosed_bracket,     ///< '[' without ']'
  empty_host,           ///< no host before the ':'
  bad_host,             ///< a host name with a NUL, or too long
  empty_path,           ///< an empty Unix path
  path_too_long,        ///< more than 107 bytes
  path_has_nul,         ///< a NUL would end the path early
  no_addresses,         ///< there is nothing to connect or bind to
};

ROUSE_API const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(Error error) noexcept {
  return {static_cast<int>(error), error_category()};
}

}  // namespace rouse::net

template <>
struct std::is_error_code_enum<rouse::net::Error> : std::true_type {};
