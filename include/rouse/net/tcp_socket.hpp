// TcpSocket: a TCP socket before it is connected or listens, for options that must be set by then.
//
//   auto socket = net::TcpSocket::v4();
//   socket.set_reuseport(true);
//   socket.bind("127.0.0.1:8080");
//   net::TcpListener listener = std::move(socket).listen(1024);
//
// What fails throws std::system_error.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/attempt.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/net/socket_addr.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"

namespace rouse::net {

class ROUSE_API TcpSocket {
 public:
  static TcpSocket v4();
  static TcpSocket v6();
  /// For connecting or binding to this address. Errors: std::errc::address_family_not_supported if
  /// it is no IP address.
  static Result<TcpSocket> for_address(const SocketAddr& address) noexcept;

  /// Binding to an address that an ended program has used works at once.
  void set_reuseaddr(bool on);
  [[nodiscard]] bool reuseaddr() const;
  /// Several sockets may listen at one address; the system deals connections out among them.
  void set_reuseport(bool on);
  [[nodiscard]] bool reuseport() const;
  void set_nodelay(bool on);
  [[nodiscard]] bool nodelay() const;
  void set_keepalive(bool on);
  [[nodiscard]] bool keepalive() const;
  /// The first probe after so much silence, then one each `interval`, and so many until it is over.
  /// Throws std::system_error: invalid_argument if one is negative, or more than the system takes.
  void set_keepalive_times(std::chrono::seconds idle, std::chrono::seconds interval, int probes);
  /// See TcpStream::set_linger.
  void set_linger(std::optional<std::chrono::seconds> time);
  [[nodiscard]] std::optional<std::chrono::seconds> linger() const;
  /// Linux reserves, and tells, twice as much.
  void set_send_buffer_size(std::size_t bytes);
  [[nodiscard]] std::size_t send_buffer_size() const;
  void set_recv_buffer_size(std::size_t bytes);
  [[nodiscard]] std::size_t recv_buffer_size() const;
  /// A v6 socket that does not take IPv4 connections.
  void set_only_v6(bool on);

  void bind(const SocketAddr& address);
  /// The same for text that is an address: throws net::Error if it is none.
  void bind(std::string_view address);
  [[nodiscard]] Result<void> try_bind(const SocketAddr& address) noexcept;
  [[nodiscard]] SocketAddr local_addr() const;

  /// So many connections may wait to be accepted. Inside a runtime.
  TcpListener listen(int backlog = 1024) &&;
  [[nodiscard]] Result<TcpListener> try_listen(int backlog) && noexcept;
  /// Completes when connected. Dropped midway, the connection is given up. Tasks of a runtime.
  /// Errors: std::errc::connection_refused and so on; address_family_not_supported if it is of
  /// another family than the socket.
  Attempt<TcpStream> connect(SocketAddr address) &&;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  explicit TcpSocket(io::OwnedFd fd) noexcept : fd_(std::move(fd)) {}
  static Attempt<TcpStream> connect_with(TcpSocket socket, SocketAddr address);

  io::OwnedFd fd_;
};

}  // namespace rouse::net
