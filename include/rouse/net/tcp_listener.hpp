// TcpListener: accepts TCP connections.
//
//   auto listener = co_await net::TcpListener::bind("127.0.0.1:8080");
//   for (;;) {
//     auto [peer, addr] = co_await listener.accept();
//     spawn(serve, std::move(peer)).detach();
//   }
#pragma once

#include <cstdint>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/net/accept.hpp"
#include "rouse/net/endpoint.hpp"
#include "rouse/net/tcp_stream.hpp"

namespace rouse::net {

class ROUSE_API TcpListener {
 public:
  using Stream = TcpStream;

  /// Listens at an address; port 0 lets the system choose one (see `local_addr`). The address can
  /// be reused at once after the program that used it has ended (SO_REUSEADDR). A name is looked
  /// up, and the first of its addresses that can be bound is used.
  /// Threads: tasks of a runtime.
  /// Errors: those of lookup_host; std::errc::address_in_use, permission_denied,
  /// address_not_available.
  static AsyncResult<TcpListener> bind(Endpoint endpoint);
  /// Takes over a listening socket, e.g. one that systemd passed on.
  static Result<TcpListener> from_fd(io::OwnedFd fd) noexcept;

  explicit TcpListener(io::AsyncFd io) noexcept : io_(std::move(io)) {}

  /// See net::Accept.
  Accept<TcpListener> accept() noexcept ROUSE_LIFETIMEBOUND { return Accept<TcpListener>(*this); }
  /// See net::Incoming.
  Incoming<TcpListener> incoming() noexcept ROUSE_LIFETIMEBOUND {
    return Incoming<TcpListener>(*this);
  }
  Poll<Result<Accepted<TcpStream>>> poll_accept(Context& cx, internal::AcceptWait& wait);

  /// Throws std::system_error.
  [[nodiscard]] SocketAddr local_addr() const;
  [[nodiscard]] int fd() const noexcept { return io_.fd(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(TcpListener, nullptr, one, &TcpListener::io_)

 private:
  io::AsyncFd io_;
};

}  // namespace rouse::net
