// How an Endpoint becomes the address of a Unix socket.
#pragma once

#include "rouse/base/result.hpp"
#include "rouse/net/endpoint.hpp"

#include "sys/socket.hpp"

namespace rouse::net {

/// "unix:/path", "unix:@name", a path, "@name" or an address. Errors: address_family_not_supported
/// if it is an IP address, or a host and a port; those of SocketAddr::unix_path.
Result<SocketAddr> understand_unix(const Endpoint& endpoint) noexcept;

/// A new Unix socket, bound to `endpoint`.
Result<io::OwnedFd> bind_unix(const Endpoint& endpoint, sys::SocketKind kind) noexcept;

}  // namespace rouse::net
