// What all kinds of sockets do alike.
#pragma once

#include "rouse/io/async_fd.hpp"
#include "rouse/net/socket_addr.hpp"

#include "sys/socket.hpp"

namespace rouse::net {

/// Throws std::system_error.
SocketAddr local_address(int fd);

/// Setting and asking for an option: throws std::system_error.
void change_option(int fd, sys::SocketOption option, int value);
int option_of(int fd, sys::SocketOption option);

/// A listening socket gets so many connections to wait for their accept.
inline constexpr int default_backlog = 1024;

/// One connection of a listening socket. Errors of a connection that has gone meanwhile are not
/// reported, the next one is given; others are, `operation_would_block` among them.
struct AcceptedFd {
  io::OwnedFd fd;
  sys::NativeAddress peer;
};
Result<AcceptedFd> accept_next(int listener) noexcept;

}  // namespace rouse::net
