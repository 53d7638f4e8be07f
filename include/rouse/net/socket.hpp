// Socket: what streams and datagram sockets have in common: readiness, addresses, a descriptor.
#pragma once

#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/net/socket_addr.hpp"

namespace rouse::net {

class ROUSE_API Socket {
 public:
  /// See io::AsyncFd: any number of tasks may wait.
  io::Readiness readable() const noexcept ROUSE_LIFETIMEBOUND { return io_.readable(); }
  /// See io::AsyncFd: any number of tasks may wait.
  io::Readiness writable() const noexcept ROUSE_LIFETIMEBOUND { return io_.writable(); }
  /// See io::AsyncFd: any number of tasks may wait.
  io::Readiness ready(io::Interest interest) const noexcept ROUSE_LIFETIMEBOUND {
    return io_.ready(interest);
  }
  /// Calls `fn`, which makes a system call of its own with `fd()`: see io::AsyncFd::try_io.
  template <class Fn>
  io::tried_t<Fn> try_io(io::Interest interest, Fn&& fn) const {
    return io_.try_io(interest, fn);
  }
  /// The same, when the socket is ready and until it does not block: see io::AsyncFd::async_io.
  template <class Fn>
  auto async_io(io::Interest interest, Fn&& fn) const ROUSE_LIFETIMEBOUND {
    return io_.async_io(interest, std::forward<Fn>(fn));
  }

  /// The address it is bound to. Throws std::system_error.
  [[nodiscard]] SocketAddr local_addr() const;
  /// The peer's address. Throws std::system_error, e.g. std::errc::not_connected.
  [[nodiscard]] SocketAddr peer_addr() const;
  /// Returns and clears the pending error of this socket, if there is one.
  Result<void> take_error() noexcept;
  [[nodiscard]] int fd() const noexcept { return io_.fd(); }
  /// Deregisters the descriptor and returns it, still nonblocking.
  [[nodiscard]] io::OwnedFd into_fd() && noexcept { return std::move(io_).into_fd(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Socket, nullptr, one, &Socket::io_)

 protected:
  explicit Socket(io::AsyncFd io) noexcept : io_(std::move(io)) {}
  Socket(Socket&&) noexcept = default;
  Socket& operator=(Socket&&) noexcept = default;
  ~Socket() = default;

  io::AsyncFd io_;
};

}  // namespace rouse::net
