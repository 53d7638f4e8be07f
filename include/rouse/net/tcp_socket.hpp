// TcpSocket: a TCP socket before it connects or listens, for options that must be set by then.
//
//   auto socket = net::TcpSocket::v4();
//   socket.set_reuseport(true);
//   socket.bind("127.0.0.1:8080");
//   net::TcpListener listener = std::move(socket).listen(1024);
//
// All failures throw std::system_error.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/net/socket_addr.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"

namespace rouse::net {

class ROUSE_API TcpSocket {
 public:
  /// A socket for IPv4. Throws std::system_error.
  static TcpSocket v4();
  /// A socket for IPv6. Throws std::system_error.
  static TcpSocket v6();
  /// For connecting or binding to this address.
  /// Errors: std::errc::address_family_not_supported if it is not an IP address.
  static Result<TcpSocket> for_address(const SocketAddr& address) noexcept;

  /// Allows binding to an address that an ended program has used.
  void set_reuseaddr(bool on);
  [[nodiscard]] bool reuseaddr() const;
  /// Several sockets may listen at one address; the system distributes connections among them.
  void set_reuseport(bool on);
  [[nodiscard]] bool reuseport() const;
  /// See TcpStream::set_nodelay.
  void set_nodelay(bool on);
  [[nodiscard]] bool nodelay() const;
  /// The system sends probes on an idle connection, and closes it if none is answered.
  void set_keepalive(bool on);
  [[nodiscard]] bool keepalive() const;
  /// The first probe after `idle` of silence, then one per `interval`, and at most this many.
  /// Throws std::system_error: invalid_argument if one is negative, or above the system's limit.
  void set_keepalive_times(std::chrono::seconds idle, std::chrono::seconds interval, int probes);
  /// See TcpStream::set_linger.
  void set_linger(std::optional<std::chrono::seconds> time);
  [[nodiscard]] std::optional<std::chrono::seconds> linger() const;
  /// Linux reserves, and reports, twice as much.
  void set_send_buffer_size(std::size_t bytes);
  [[nodiscard]] std::size_t send_buffer_size() const;
  /// As set_send_buffer_size.
  void set_recv_buffer_size(std::size_t bytes);
  [[nodiscard]] std::size_t recv_buffer_size() const;
  /// An IPv6 socket that does not accept IPv4 connections.
  void set_only_v6(bool on);

  /// Throws std::system_error: std::errc::address_in_use and so on.
  void bind(const SocketAddr& address);
  /// The same for an address as text. Throws std::system_error with a net::Error if it is not an
  /// address.
  void bind(std::string_view address);
  /// As `bind`, with the error as a result.
  [[nodiscard]] Result<void> try_bind(const SocketAddr& address) noexcept;
  /// Where it is bound. Throws std::system_error.
  [[nodiscard]] SocketAddr local_addr() const;

  /// Listens. `backlog` connections may wait to be accepted.
  /// Threads: any, inside a runtime.
  TcpListener listen(int backlog = 1024) &&;
  /// As `listen`, with the error as a result.
  [[nodiscard]] Result<TcpListener> try_listen(int backlog) && noexcept;
  /// Completes when connected.
  /// Cancel safety: if dropped midway, the connection attempt is abandoned.
  /// Threads: tasks of a runtime.
  /// Errors: std::errc::connection_refused and so on; address_family_not_supported if its family
  /// differs from the socket's.
  AsyncResult<TcpStream> connect(SocketAddr address) &&;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  explicit TcpSocket(io::OwnedFd fd) noexcept : fd_(std::move(fd)) {}
  static AsyncResult<TcpStream> connect_with(TcpSocket socket, SocketAddr address);

  io::OwnedFd fd_;
};

}  // namespace rouse::net
