// UnixDatagram: datagrams between programs of one machine. None is lost or reordered: who sends to
// one whose queue is full waits.
//
//   auto socket = co_await net::UnixDatagram::bind("/run/log.sock");   // or "@name": abstract
//   auto [size, from] = co_await socket.recv_from(buf);
//
//   auto sender = net::UnixDatagram::unbound();
//   co_await sender.send_to("hello", "/run/log.sock");
//
// Sending and receiving: see net::DatagramSocket. `writable` speaks of a connected socket: after a
// `send_to` to one whose queue is full it may wait until a datagram of this socket is received.
#pragma once

#include <concepts>
#include <string_view>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/core/attempt.hpp"
#include "rouse/net/datagram_socket.hpp"
#include "rouse/net/endpoint.hpp"

namespace rouse::net {

class ROUSE_API UnixDatagram : public DatagramSocket {
 public:
  /// A socket at "unix:/path", "/path", "unix:@name" or "@name". The file of a path stays at its
  /// end. Never waits. Tasks of a runtime. Errors: std::errc::address_in_use, also if there is a
  /// file that nobody listens at (it is not removed); no_such_file_or_directory, permission_denied;
  /// address_family_not_supported if it is an IP address; net::Error if it is no address.
  static Attempt<UnixDatagram> bind(Endpoint endpoint);
  /// A socket without a name: for sending, or to be connected. Throws std::system_error. Inside a
  /// runtime.
  static UnixDatagram unbound();
  /// Two that are connected to each other.
  static std::pair<UnixDatagram, UnixDatagram> pair();
  /// A datagram socket of yours.
  static Result<UnixDatagram> from_fd(io::OwnedFd fd) noexcept;

  explicit UnixDatagram(io::AsyncFd io) noexcept
      : DatagramSocket(std::move(io), Family::unix_domain) {}
  [[nodiscard]] io::OwnedFd into_fd() && noexcept { return std::move(io_).into_fd(); }

  /// From now on `send` goes there and only what comes from there is received. Never waits. Errors:
  /// std::errc::connection_refused, no_such_file_or_directory, permission_denied, as for `bind`.
  Attempt<void> connect(Endpoint endpoint);

  using DatagramSocket::send_to;
  /// To a path or name as `bind` takes it; where that is no address, its error. See DatagramSendTo.
  template <std::convertible_to<std::string_view> Text>
  Attempt<std::size_t> send_to(io::Buffer data, const Text& to) ROUSE_LIFETIMEBOUND {
    return send_to_text(data, Endpoint(std::string_view(to)));
  }

 private:
  Attempt<std::size_t> send_to_text(io::Buffer data, Endpoint to);
};

}  // namespace rouse::net
