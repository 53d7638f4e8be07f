// UDP datagrams with what the system knows about them: the address and interface they came to, or
// are to leave from; and many with one system call (GSO and GRO of the kernel).
//
//   net::set_packet_info(socket, true);
//   const net::RecvMeta meta = co_await net::recv_message(socket, buf);
//   // meta.size, meta.from, meta.to, meta.interface
//
//   net::Transmit answer(data);
//   answer.to = meta.from;
//   answer.from = meta.to;       // a server with several addresses answers from the right one
//   answer.segment_size = 1200;  // `data` leaves as datagrams of 1200 bytes
//   co_await net::send_message(socket, answer);
//
// Threads: any number of tasks may send and receive at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/net/ip_addr.hpp"
#include "rouse/net/socket_addr.hpp"
#include "rouse/net/udp_socket.hpp"

namespace rouse::net {

/// What is known about a received datagram, or, with `set_gro`, about several in one buffer.
class RecvMeta {
 public:
  RecvMeta() noexcept {}  // NOLINT(*-use-equals-default): an aggregate is destroyed twice by GCC 12

  std::size_t size = 0;         ///< bytes in the buffer
  std::size_t full_size = 0;    ///< bytes that were sent; more than `size`: the rest is lost
  SocketAddr from;              ///< who sent it
  std::optional<IpAddr> to;     ///< the address it was sent to; only with set_packet_info
  std::uint32_t interface = 0;  ///< the number of the interface it came through; 0: not known
  std::size_t segment_size =
      0;  ///< the buffer holds datagrams of this size; the last: what is left
};

/// What is to be sent. Borrows the bytes.
class Transmit {
 public:
  explicit Transmit(io::Buffer bytes) noexcept : data(bytes) {}

  io::Buffer data;                 ///< the datagram, or several, of `segment_size` bytes each
  std::optional<SocketAddr> to;    ///< empty: to the connected peer
  std::optional<IpAddr> from;      ///< the source address, one of this machine's; empty: any
  std::uint32_t interface = 0;     ///< the number of the interface to leave through; 0: any
  std::uint16_t segment_size = 0;  ///< 0: `data` is one datagram
};

}  // namespace rouse::net

namespace rouse::internal {

class RecvMessage {
 public:
  RecvMessage(int fd, io::BufferMut buf) noexcept : fd_(fd), buf_(buf) {}
  ROUSE_API Result<net::RecvMeta> operator()() const noexcept;

 private:
  int fd_;
  io::BufferMut buf_;
};

class SendMessage {
 public:
  SendMessage(int fd, const net::Transmit& transmit) noexcept : fd_(fd), transmit_(transmit) {}
  ROUSE_API Result<std::size_t> operator()() const noexcept;

 private:
  int fd_;
  net::Transmit transmit_;
};

}  // namespace rouse::internal

namespace rouse::net {

/// Whether recv_message tells where a datagram was sent to. Throws std::system_error.
ROUSE_API void set_packet_info(const UdpSocket& socket, bool on);
/// Whether the system may put several datagrams of one sender into one buffer: give recv_message
/// one of 64 KiB, and look at RecvMeta::segment_size. `recv_from` would not tell them apart. Throws
/// std::system_error, if the kernel is older than 5.0.
ROUSE_API void set_gro(const UdpSocket& socket, bool on);
/// How many datagrams one send_message may send: 1 if the kernel (before 4.18) has no GSO.
[[nodiscard]] ROUSE_API std::size_t max_gso_segments(const UdpSocket& socket) noexcept;

/// Completes with a datagram in the buffer.
/// Cancel safety: dropping it loses nothing: the next receive gets the datagram.
/// Errors: Error::runtime_ended, and the system's.
[[nodiscard]] inline auto recv_message(const UdpSocket& socket ROUSE_LIFETIMEBOUND,
                                       io::BufferMut buf) {
  return socket.async_io(io::Interest::readable, internal::RecvMessage(socket.fd(), buf));
}
/// Completes when the system has accepted the datagrams, with how many bytes; delivery is not
/// guaranteed. Waits while the socket has no room.
/// Cancel safety: if dropped midway, nothing was sent.
/// Errors: those of UdpSocket::send_to; address_family_not_supported if an address is not of the
/// socket's family; network_unreachable or invalid_argument, by the kernel's version, if `from` is
/// no address of this machine; invalid_argument if there are more segments than max_gso_segments;
/// no_buffer_space if the network card has no room.
[[nodiscard]] inline auto send_message(const UdpSocket& socket ROUSE_LIFETIMEBOUND,
                                       const Transmit& transmit) {
  return socket.async_io(io::Interest::writable, internal::SendMessage(socket.fd(), transmit));
}

}  // namespace rouse::net
