// UnixListener: waits for connections of programs of the same machine.
//
//   auto listener = co_await net::UnixListener::bind("/run/app.sock");
//   for (;;) {
//     auto [peer, addr] = co_await listener.accept();
//     spawn(serve, std::move(peer)).detach();
//   }
//
// The file of a path stays when the listener ends; who wants to bind there again removes it first.
// An abstract name ("@name") leaves nothing.
#pragma once

#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/core/attempt.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/net/accept.hpp"
#include "rouse/net/endpoint.hpp"
#include "rouse/net/unix_stream.hpp"

namespace rouse::net {

class ROUSE_API UnixListener {
 public:
  using Stream = UnixStream;

  /// Listens at "unix:/path", "/path", "unix:@name" or "@name". Never waits. Tasks of a runtime.
  /// Errors: std::errc::address_in_use, also if there is a file that nobody listens at (it is not
  /// removed); no_such_file_or_directory, permission_denied; address_family_not_supported if it is
  /// an IP address; net::Error if it is no address.
  static Attempt<UnixListener> bind(Endpoint endpoint);
  /// A listening socket of yours, e.g. one that was passed on by systemd.
  static Result<UnixListener> from_fd(io::OwnedFd fd) noexcept;

  explicit UnixListener(io::AsyncFd io) noexcept : io_(std::move(io)) {}

  /// See net::Accept.
  Accept<UnixListener> accept() noexcept ROUSE_LIFETIMEBOUND { return Accept<UnixListener>(*this); }
  /// See net::Incoming.
  Incoming<UnixListener> incoming() noexcept ROUSE_LIFETIMEBOUND {
    return Incoming<UnixListener>(*this);
  }
  Poll<Result<Accepted<UnixStream>>> poll_accept(Context& cx, AcceptWait& wait);

  /// Throws std::system_error.
  [[nodiscard]] SocketAddr local_addr() const;
  [[nodiscard]] int fd() const noexcept { return io_.fd(); }

 private:
  io::AsyncFd io_;
};

}  // namespace rouse::net
