// net::Error: why a text is no address. Each equals std::errc::invalid_argument too:
//
//   auto addr = net::SocketAddr::parse("localhost");
//   if (addr.error() == net::Error::missing_port) ...
//   if (addr.error() == std::errc::invalid_argument) ...
#pragma once

#include <system_error>

#include "rouse/base/attributes.hpp"

namespace rouse::net {

enum class Error {
  bad_ip = 1,           ///< not an IPv4 or IPv6 address
  missing_port,         ///< an address or host without ":port"
  bad_port,             ///< a port that is no number from 0 to 65535
  bad_scope,            ///< what follows '%' is no interface number
  ipv6_needs_brackets,  ///< "::1:80": which part is the port?
  unclosed_bracket,     ///< '[' without ']'
  empty_host,           ///< nothing before the ':'
  bad_host,             ///< a host name with a NUL or too long to be one
  empty_path,           ///< a Unix path of no characters
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
