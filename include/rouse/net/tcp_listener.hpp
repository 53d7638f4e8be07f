// TcpListener: waits for TCP connections.
//
//   auto listener = co_await net::TcpListener::bind("127.0.0.1:8080");
//   for (;;) {
//     auto [peer, addr] = co_await listener.accept();
//     spawn(serve, std::move(peer)).detach();
//   }
#pragma once

#include <cstdint>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/core/attempt.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/net/accept.hpp"
#include "rouse/net/endpoint.hpp"
#include "rouse/net/tcp_stream.hpp"

namespace rouse::net {

class ROUSE_API TcpListener {
 public:
  using Stream = TcpStream;

  /// Listens at an address; port 0 lets the system choose one (`local_addr` tells). The address can
  /// be used again at once after a program that used it has ended (SO_REUSEADDR). A name is looked
  /// up and the first of its addresses that can be bound is taken. Tasks of a runtime. Errors:
  /// those of lookup_host; std::errc::address_in_use, permission_denied, address_not_available.
  static Attempt<TcpListener> bind(Endpoint endpoint);
  /// A listening socket of yours, e.g. one that was passed on by systemd.
  static Result<TcpListener> from_fd(io::OwnedFd fd) noexcept;

  explicit TcpListener(io::AsyncFd io) noexcept : io_(std::move(io)) {}

  /// See net::Accept.
  Accept<TcpListener> accept() noexcept ROUSE_LIFETIMEBOUND { return Accept<TcpListener>(*this); }
  /// See net::Incoming.
  Incoming<TcpListener> incoming() noexcept ROUSE_LIFETIMEBOUND {
    return Incoming<TcpListener>(*this);
  }
  Poll<Result<Accepted<TcpStream>>> poll_accept(Context& cx, AcceptWait& wait);

  /// Throws std::system_error.
  [[nodiscard]] SocketAddr local_addr() const;
  [[nodiscard]] int fd() const noexcept { return io_.fd(); }

 private:
  io::AsyncFd io_;
};

}  // namespace rouse::net
