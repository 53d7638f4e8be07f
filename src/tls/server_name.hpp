// Whom a client wants to talk to: a host name or an IP address, out of "example.org:443".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rouse/net/ip_addr.hpp"

namespace rouse::internal {

struct ServerName {
  std::string host;  // in lower case, without a dot at its end; empty: an address
  std::optional<net::IpAddr> address;
};

/// Nothing if it is neither.
std::optional<ServerName> parse_server_name(std::string_view text);

}  // namespace rouse::internal
