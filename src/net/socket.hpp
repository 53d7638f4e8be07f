// What all kinds of sockets do alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>

#include "rouse/base/internal/durations.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/net/socket_addr.hpp"

#include "sys/socket.hpp"

namespace rouse::net {

/// Throws std::system_error.
SocketAddr local_address(int fd);

/// Setting and asking for an option: throws std::system_error.
void change_option(int fd, sys::SocketOption option, int value);
int option_of(int fd, sys::SocketOption option);

/// The most that a socket option can say.
int clamp_to_int(std::size_t number) noexcept;
/// What is more than fits is as much as fits. Throws std::system_error: invalid_argument if it is
/// negative.
int whole_seconds(std::chrono::seconds time);
/// Throws std::system_error.
void change_linger(int fd, std::optional<std::chrono::seconds> time);

/// `error` of a bind or connect of `fd` to `address`. The system is not of one mind about an
/// address of another family than the socket's: here it is address_family_not_supported.
std::error_code address_error(int fd, const SocketAddr& address, std::error_code error) noexcept;

/// Whether it is a socket of IPv6. Throws std::system_error.
bool is_v6(int fd);
/// How far packets go: IPv4's TTL, IPv6's hop limit. Throws std::system_error.
void change_hops(int fd, std::uint32_t hops);
std::uint32_t hops_of(int fd);

/// A listening socket gets so many connections to wait for their accept.
inline constexpr int default_backlog = 1024;

/// One connection of a listening socket. Errors of a connection that has gone meanwhile are not
/// reported, the next one is given, unless there are 64 of them in a row; others are,
/// `operation_would_block` among them.
struct AcceptedFd {
  io::OwnedFd fd;
  sys::NativeAddress peer;
};
Result<AcceptedFd> accept_next(int listener) noexcept;

}  // namespace rouse::net
