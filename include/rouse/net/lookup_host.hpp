// lookup_host: the addresses of a host.
//
//   for (const net::SocketAddr& addr : co_await net::lookup_host("example.org:443")) ...
#pragma once

#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/net/endpoint.hpp"

namespace rouse::net {

/// Completes with at least one address, in the order in which to try them: as the system prefers
/// them, but alternating IPv6 and IPv4 (RFC 8305). A numeric address is returned at once; for a
/// name it asks the system's resolver on a blocking thread.
/// Cancel safety: if dropped midway, the lookup runs on and its answer is lost.
/// Threads: tasks of a runtime; any, for a numeric address.
/// Errors: net::Error if the text is neither an address nor "host:port"; those of the resolver
/// (category "rouse.net.lookup"): std::errc::address_not_available means that there is no such
/// host, std::errc::resource_unavailable_try_again that it may work later;
/// std::errc::operation_canceled if the runtime has ended.
ROUSE_API AsyncResult<std::vector<SocketAddr>> lookup_host(Endpoint endpoint);

}  // namespace rouse::net
