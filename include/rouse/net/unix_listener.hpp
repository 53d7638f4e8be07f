// UnixListener: accepts connections from programs on the same machine.
//
//   auto listener = co_await net::UnixListener::bind("/run/app.sock");
//   for (;;) {
//     auto [peer, addr] = co_await listener.accept();
//     spawn(serve, std::move(peer)).detach();
//   }
//
// The file of a path stays when the listener is closed; to bind there again, remove it first. An
// abstract name ("@name") leaves nothing.
#pragma once

#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/net/accept.hpp"
#include "rouse/net/endpoint.hpp"
#include "rouse/net/unix_stream.hpp"

namespace rouse::net {

class ROUSE_API UnixListener {
 public:
  using Stream = UnixStream;

  /// Listens at "unix:/path", "/path", "unix:@name" or "@name". Never waits.
  /// Threads: tasks of a runtime.
  /// Errors: std::errc::address_in_use, even if nobody listens at an existing file (it is not
  /// removed); no_such_file_or_directory, permission_denied; address_family_not_supported if it is
  /// an IP address; net::Error if it is not an address.
  static AsyncResult<UnixListener> bind(Endpoint endpoint);
  /// Takes over a listening socket, e.g. one that systemd passed on.
  static Result<UnixListener> from_fd(io::OwnedFd fd) noexcept;

  explicit UnixListener(io::AsyncFd io) noexcept : io_(std::move(io)) {}

  /// See net::Accept.
  Accept<UnixListener> accept() noexcept ROUSE_LIFETIMEBOUND { return Accept<UnixListener>(*this); }
  /// See net::Incoming.
  Incoming<UnixListener> incoming() noexcept ROUSE_LIFETIMEBOUND {
    return Incoming<UnixListener>(*this);
  }
  Poll<Result<Accepted<UnixStream>>> poll_accept(Context& cx, internal::AcceptWait& wait);

  /// Throws std::system_error.
  [[nodiscard]] SocketAddr local_addr() const;
  [[nodiscard]] int fd() const noexcept { return io_.fd(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(UnixListener, nullptr, one, &UnixListener::io_)

 private:
  io::AsyncFd io_;
};

}  // namespace rouse::net
