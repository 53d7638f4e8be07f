// How a host with several addresses is connected to.
#pragma once

#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/net/tcp_stream.hpp"

namespace rouse::net {

/// See TcpStream::connect; there is at least one address.
ROUSE_API AsyncResult<TcpStream> connect_to_first(std::vector<SocketAddr> addresses);

}  // namespace rouse::net
