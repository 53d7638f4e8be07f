// UnixDatagram: datagrams between programs on one machine. None is lost or reordered: a send to a
// socket whose queue is full waits.
//
//   auto socket = co_await net::UnixDatagram::bind("/run/log.sock");   // or "@name": abstract
//   auto [size, from] = co_await socket.recv_from(buf);
//
//   auto sender = net::UnixDatagram::unbound();
//   co_await sender.send_to("hello", "/run/log.sock");
//
// Sending and receiving: see net::DatagramSocket. `writable` reports on a connected socket: after a
// `send_to` to a full queue it may wait until a datagram of this socket is received.
#pragma once

#include <concepts>
#include <string_view>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/net/datagram_socket.hpp"
#include "rouse/net/endpoint.hpp"

namespace rouse::net {

class ROUSE_API UnixDatagram : public DatagramSocket {
 public:
  /// A socket bound to "unix:/path", "/path", "unix:@name" or "@name". The file of a path stays
  /// when the socket is closed. Never waits.
  /// Threads: tasks of a runtime.
  /// Errors: std::errc::address_in_use, even if nobody listens at an existing file (it is not
  /// removed); no_such_file_or_directory, permission_denied; address_family_not_supported if it is
  /// an IP address; net::Error if it is not an address.
  static AsyncResult<UnixDatagram> bind(Endpoint endpoint);
  /// An unbound socket: for sending, or to be connected. Throws std::system_error.
  /// Threads: any, inside a runtime.
  static UnixDatagram unbound();
  /// Two connected sockets.
  static std::pair<UnixDatagram, UnixDatagram> pair();
  /// Takes over a datagram socket.
  static Result<UnixDatagram> from_fd(io::OwnedFd fd) noexcept;

  explicit UnixDatagram(io::AsyncFd io) noexcept
      : DatagramSocket(std::move(io), Family::unix_domain) {}

  /// From now on `send` goes to this peer, and only its datagrams are received. Never waits.
  /// Errors: std::errc::connection_refused, no_such_file_or_directory, permission_denied, and as
  /// for `bind`.
  AsyncResult<void> connect(Endpoint endpoint);

  using DatagramSocket::send_to;
  /// To a path or name as for `bind`; fails if it is not an address. See DatagramSendTo.
  template <std::convertible_to<std::string_view> Text>
  AsyncResult<std::size_t> send_to(io::Buffer data, const Text& to) ROUSE_LIFETIMEBOUND {
    return send_to_text(data, Endpoint(std::string_view(to)));
  }

 private:
  AsyncResult<std::size_t> send_to_text(io::Buffer data, Endpoint to);
};

}  // namespace rouse::net
