// TCP, UDP, Unix sockets, addresses, name resolution. A contents page.
#pragma once

#include "rouse/net/accept.hpp"           // IWYU pragma: export
#include "rouse/net/datagram_batch.hpp"   // IWYU pragma: export
#include "rouse/net/datagram_socket.hpp"  // IWYU pragma: export
#include "rouse/net/endpoint.hpp"         // IWYU pragma: export
#include "rouse/net/error.hpp"            // IWYU pragma: export
#include "rouse/net/ip_addr.hpp"          // IWYU pragma: export
#include "rouse/net/lookup_host.hpp"      // IWYU pragma: export
#include "rouse/net/owned_halves.hpp"     // IWYU pragma: export
#include "rouse/net/socket.hpp"           // IWYU pragma: export
#include "rouse/net/socket_addr.hpp"      // IWYU pragma: export
#include "rouse/net/stream_socket.hpp"    // IWYU pragma: export
#include "rouse/net/tcp_listener.hpp"     // IWYU pragma: export
#include "rouse/net/tcp_socket.hpp"       // IWYU pragma: export
#include "rouse/net/tcp_stream.hpp"       // IWYU pragma: export
#include "rouse/net/udp_socket.hpp"       // IWYU pragma: export
#include "rouse/net/unix_datagram.hpp"    // IWYU pragma: export
#include "rouse/net/unix_listener.hpp"    // IWYU pragma: export
#include "rouse/net/unix_stream.hpp"      // IWYU pragma: export
