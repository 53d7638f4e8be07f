// DatagramSocket: what UDP and Unix datagram sockets have in common: messages that come whole or
// not at all, each from somewhere.
//
//   auto [size, from] = co_await socket.recv_from(buf);
//   co_await socket.send_to({buf.data(), size}, from);
//
// Any number of tasks may send and receive at once, on any threads; each datagram goes to one of
// them. A datagram of no bytes is one like others: a size of 0 is no end. What does not fit into
// the buffer is lost (see Received::truncated). An error is that of one call and the socket goes
// on: connection_refused, for instance, if nobody listened for what was sent before.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/net/socket_addr.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::net {

/// A datagram that was received: `auto [size, from] = ...`.
class Received {
 public:
  Received(std::size_t bytes_in_buffer, const SocketAddr& sender, std::size_t whole_size) noexcept
      : size(bytes_in_buffer), from(sender), full_size_(whole_size) {}

  std::size_t size;  ///< bytes in the buffer
  SocketAddr from;

  /// The size that it had when it was sent.
  [[nodiscard]] std::size_t full_size() const noexcept { return full_size_; }
  /// Whether it had more bytes than the buffer: the rest is lost.
  [[nodiscard]] bool truncated() const noexcept { return full_size_ > size; }

  // For structured bindings.
  template <std::size_t i>
  friend const auto& get(const Received& received) noexcept {
    if constexpr (i == 0) return received.size;
    if constexpr (i == 1) return received.from;
  }

 private:
  std::size_t full_size_;
};

/// What one who waits to send keeps meanwhile.
class SendWait {
 public:
  SendWait() noexcept = default;
  io::ReadinessWaiter waiter;
  std::optional<Sleep> pause;  // nothing tells for certain that there is room: until the next try
  bool may_end_early = false;  // the pause: something may tell after all
  std::chrono::milliseconds next_pause{1};
};

enum class RoomIs : bool;
class DatagramRecv;
class DatagramRecvFrom;
class DatagramSend;
class DatagramSendTo;

class ROUSE_API DatagramSocket {
 public:
  /// See DatagramSend: to where the socket is connected.
  DatagramSend send(io::Buffer data) noexcept ROUSE_LIFETIMEBOUND;
  /// See DatagramSendTo.
  DatagramSendTo send_to(io::Buffer data, const SocketAddr& to) noexcept ROUSE_LIFETIMEBOUND;
  /// See DatagramRecv.
  DatagramRecv recv(io::BufferMut buf) noexcept ROUSE_LIFETIMEBOUND;
  /// See DatagramRecvFrom.
  DatagramRecvFrom recv_from(io::BufferMut buf) noexcept ROUSE_LIFETIMEBOUND;
  /// The same, and the datagram stays there.
  DatagramRecvFrom peek_from(io::BufferMut buf) noexcept ROUSE_LIFETIMEBOUND;

  /// Without waiting; errors: operation_would_block, and those of the others.
  Result<std::size_t> try_send(io::Buffer data) noexcept;
  Result<std::size_t> try_send_to(io::Buffer data, const SocketAddr& to) noexcept;
  Result<std::size_t> try_recv(io::BufferMut buf) noexcept;
  Result<Received> try_recv_from(io::BufferMut buf) noexcept;
  Result<Received> try_peek_from(io::BufferMut buf) noexcept;

  // For poll functions; `waiter` and `wait` belong to the task that calls.
  Poll<Result<std::size_t>> poll_send(Context& cx, SendWait& wait, std::span<const std::byte> data);
  Poll<Result<std::size_t>> poll_send_to(Context& cx, SendWait& wait,
                                         std::span<const std::byte> data, const SocketAddr& to);
  Poll<Result<std::size_t>> poll_recv(Context& cx, io::ReadinessWaiter& waiter,
                                      std::span<std::byte> buf);
  Poll<Result<Received>> poll_recv_from(Context& cx, io::ReadinessWaiter& waiter,
                                        std::span<std::byte> buf);
  Poll<Result<Received>> poll_peek_from(Context& cx, io::ReadinessWaiter& waiter,
                                        std::span<std::byte> buf);

  /// See io::AsyncFd.
  io::Readiness readable() const noexcept ROUSE_LIFETIMEBOUND { return io_.readable(); }
  io::Readiness writable() const noexcept ROUSE_LIFETIMEBOUND { return io_.writable(); }

  /// These throw std::system_error, e.g. std::errc::not_connected.
  [[nodiscard]] SocketAddr local_addr() const;
  [[nodiscard]] SocketAddr peer_addr() const;
  /// Linux reserves, and tells, twice as much.
  void set_send_buffer_size(std::size_t bytes);
  [[nodiscard]] std::size_t send_buffer_size() const;
  void set_recv_buffer_size(std::size_t bytes);
  [[nodiscard]] std::size_t recv_buffer_size() const;
  /// Takes the error that the system keeps for this socket, if there is one.
  Result<void> take_error() noexcept;
  [[nodiscard]] int fd() const noexcept { return io_.fd(); }

 protected:
  enum class Family : bool { ip, unix_domain };
  DatagramSocket(io::AsyncFd io, Family family) noexcept : io_(std::move(io)), family_(family) {}
  DatagramSocket(DatagramSocket&&) noexcept = default;
  DatagramSocket& operator=(DatagramSocket&&) noexcept = default;
  ~DatagramSocket() = default;

  io::AsyncFd io_;

 private:
  Result<std::size_t> send_once(std::span<const std::byte> data, const SocketAddr& to) noexcept;

  [[nodiscard]] RoomIs room() const noexcept;

  Family family_;
};

/// Completes with the size of the datagram, or as much of it as the buffer had room for. On a
/// connected socket only datagrams from there come. Dropped midway, nothing is lost: whoever
/// receives next gets it. Errors: Error::runtime_ended, and what the system says.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] DatagramRecv
    : public Fallible<DatagramRecv, std::size_t> {
 public:
  DatagramRecv(DatagramSocket& socket, io::BufferMut buf) noexcept : socket_(socket), buf_(buf) {}
  Poll<Result<std::size_t>> poll_result(Context& cx) {
    return socket_.poll_recv(cx, waiter_, buf_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  DatagramSocket& socket_;
  io::BufferMut buf_;
  io::ReadinessWaiter waiter_;
};

/// As DatagramRecv, and tells who sent it and whether it was cut off.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] DatagramRecvFrom
    : public Fallible<DatagramRecvFrom, Received> {
 public:
  enum class Take : bool { away, peek };
  DatagramRecvFrom(DatagramSocket& socket, io::BufferMut buf, Take take) noexcept
      : socket_(socket), buf_(buf), take_(take) {}
  Poll<Result<Received>> poll_result(Context& cx) {
    if (take_ == Take::peek) return socket_.poll_peek_from(cx, waiter_, buf_);
    return socket_.poll_recv_from(cx, waiter_, buf_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  DatagramSocket& socket_;
  io::BufferMut buf_;
  io::ReadinessWaiter waiter_;
  Take take_;
};

/// Completes when the system has taken the datagram, with its size: no more than that. While there
/// is no room for it, it waits. Dropped midway, nothing was sent. Errors: message_size if it is
/// longer than a datagram can be; destination_address_required if the socket is not connected
/// (not_connected for Unix sockets); connection_refused, which may be the fate of an earlier one.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] DatagramSend
    : public Fallible<DatagramSend, std::size_t> {
 public:
  DatagramSend(DatagramSocket& socket, io::Buffer data) noexcept : socket_(socket), data_(data) {}
  Poll<Result<std::size_t>> poll_result(Context& cx) { return socket_.poll_send(cx, wait_, data_); }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  DatagramSocket& socket_;
  io::Buffer data_;
  SendWait wait_;
};

/// As DatagramSend, to an address. Errors besides: address_family_not_supported if it is of another
/// family than the socket.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] DatagramSendTo
    : public Fallible<DatagramSendTo, std::size_t> {
 public:
  DatagramSendTo(DatagramSocket& socket, io::Buffer data, const SocketAddr& to) noexcept
      : socket_(socket), data_(data), to_(to) {}
  Poll<Result<std::size_t>> poll_result(Context& cx) {
    return socket_.poll_send_to(cx, wait_, data_, to_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  DatagramSocket& socket_;
  io::Buffer data_;
  SocketAddr to_;
  SendWait wait_;
};

inline DatagramSend DatagramSocket::send(io::Buffer data) noexcept { return {*this, data}; }
inline DatagramSendTo DatagramSocket::send_to(io::Buffer data, const SocketAddr& to) noexcept {
  return {*this, data, to};
}
inline DatagramRecv DatagramSocket::recv(io::BufferMut buf) noexcept { return {*this, buf}; }
inline DatagramRecvFrom DatagramSocket::recv_from(io::BufferMut buf) noexcept {
  return {*this, buf, DatagramRecvFrom::Take::away};
}
inline DatagramRecvFrom DatagramSocket::peek_from(io::BufferMut buf) noexcept {
  return {*this, buf, DatagramRecvFrom::Take::peek};
}

}  // namespace rouse::net

template <>
struct std::tuple_size<rouse::net::Received> : std::integral_constant<std::size_t, 2> {};
template <>
struct std::tuple_element<0, rouse::net::Received> {
  using type = const std::size_t;
};
template <>
struct std::tuple_element<1, rouse::net::Received> {
  using type = const rouse::net::SocketAddr;
};
