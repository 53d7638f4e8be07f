// How an Endpoint becomes addresses: in steps that tests can take one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rouse/base/result.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/net/endpoint.hpp"

namespace rouse::net {

/// An endpoint whose text was understood: an address, or a host to be looked up.
struct Target {
  std::optional<SocketAddr> address;
  std::string host;
  std::uint16_t port = 0;
};

/// Errors: see net::Error.
Result<Target> understand(const Endpoint& endpoint);

/// The families in turns, beginning with that of the first; no address twice (RFC 8305, 4).
std::vector<SocketAddr> interleave(const std::vector<SocketAddr>& addresses);

/// What bind and connect do first: see lookup_host, which is this.
AsyncResult<std::vector<SocketAddr>> resolve(Endpoint endpoint);

}  // namespace rouse::net
