// Between net::SocketAddr and what the system's calls take and give.
#pragma once

#include "rouse/base/result.hpp"
#include "rouse/net/socket_addr.hpp"

#include "sys/address.hpp"

namespace rouse::net {

/// AF_INET, AF_INET6 or AF_UNIX: for socket().
int native_family(const SocketAddr& address) noexcept;
sys::NativeAddress to_native(const SocketAddr& address) noexcept;
/// An address as the system gave it. A Unix socket without a name may have a size of 0 (recvfrom).
/// Error: address_family_not_supported if it is none of the three families, or cut off.
Result<SocketAddr> from_native(const sys::NativeAddress& native) noexcept;

}  // namespace rouse::net
