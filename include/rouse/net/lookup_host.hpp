// lookup_host: the addresses of a host.
//
//   for (const net::SocketAddr& addr : co_await net::lookup_host("example.org:443")) ...
#pragma once

#include <vector>

#include "rouse/base/attributes.hpp"
#include "rouse/core/attempt.hpp"
#include "rouse/net/endpoint.hpp"

namespace rouse::net {

/// Completes with at least one address, in the order in which to try them: as the system prefers
/// them, but IPv6 and IPv4 in turns (RFC 8305). An address, also as text, is given back at once; a
/// name is asked of the system's resolver on a blocking thread.
/// Dropped midway, the question goes on by itself and its answer is lost. Tasks of a Runtime; with
/// an address any.
/// Errors: net::Error if the text is neither an address nor "host:port"; those of the resolver
/// (category "rouse.net.lookup"), of which std::errc::address_not_available says that there is no
/// such host and std::errc::resource_unavailable_try_again that it may work later;
/// std::errc::operation_canceled if the runtime has ended.
ROUSE_API Attempt<std::vector<SocketAddr>> lookup_host(Endpoint endpoint);

}  // namespace rouse::net
