// DatagramSocket: what UDP and Unix datagram sockets have in common: messages that arrive whole or
// not at all, each with a sender.
//
//   auto [size, from] = co_await socket.recv_from(buf);
//   co_await socket.send_to({buf.data(), size}, from);
//
// A datagram of zero bytes is valid: a size of 0 does not mean end of file. What does not fit into
// the buffer is lost (see Received::truncated). An error belongs to one call and the socket stays
// usable: for example connection_refused, if nobody listened for what was sent before.
// Threads: any number of tasks may send and receive at once; each datagram goes to one of them.
#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/net/socket.hpp"
#include "rouse/net/socket_addr.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::net {

/// A received datagram: `auto [size, from] = ...`.
class Received {
 public:
  Received(std::size_t bytes_in_buffer, const SocketAddr& sender, std::size_t whole_size) noexcept
      : size(bytes_in_buffer), from(sender), full_size_(whole_size) {}

  std::size_t size;  ///< bytes in the buffer
  SocketAddr from;   ///< who sent it

  /// The size with which it was sent.
  [[nodiscard]] std::size_t full_size() const noexcept { return full_size_; }
  /// Whether it was longer than the buffer: the rest is lost.
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

}  // namespace rouse::net

namespace rouse::internal {

/// The state of a waiting send.
class SendWait {
 public:
  SendWait() noexcept = default;
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(SendWait, nullptr, one, &SendWait::pause)
  internal::ReadinessWaiter waiter;
  internal::Maybe<Sleep> pause;  // before the next try: the kernel may not report room
  bool may_end_early = false;    // the pause may end early: the kernel may report room after all
  std::chrono::milliseconds next_pause{1};
};

enum class RoomIs : bool;

}  // namespace rouse::internal

namespace rouse::net {
class DatagramRecv;
class DatagramRecvFrom;
class DatagramSend;
class DatagramSendTo;

class ROUSE_API DatagramSocket : public Socket {
 public:
  /// To the connected peer: see DatagramSend.
  DatagramSend send(io::Buffer data) noexcept ROUSE_LIFETIMEBOUND;
  /// See DatagramSendTo.
  DatagramSendTo send_to(io::Buffer data, const SocketAddr& to) noexcept ROUSE_LIFETIMEBOUND;
  /// See DatagramRecv.
  DatagramRecv recv(io::BufferMut buf) noexcept ROUSE_LIFETIMEBOUND;
  /// See DatagramRecvFrom.
  DatagramRecvFrom recv_from(io::BufferMut buf) noexcept ROUSE_LIFETIMEBOUND;
  /// The same, but leaves the datagram in the queue.
  DatagramRecvFrom peek_from(io::BufferMut buf) noexcept ROUSE_LIFETIMEBOUND;

  /// Without waiting; errors: operation_would_block, and those of the others.
  Result<std::size_t> try_send(io::Buffer data) noexcept;
  /// As try_send, to an address.
  Result<std::size_t> try_send_to(io::Buffer data, const SocketAddr& to) noexcept;
  /// As `recv`, without waiting: operation_would_block if there is no datagram.
  Result<std::size_t> try_recv(io::BufferMut buf) noexcept;
  /// As `recv_from`, without waiting: operation_would_block if there is no datagram.
  Result<Received> try_recv_from(io::BufferMut buf) noexcept;
  /// As `peek_from`, without waiting: operation_would_block if there is no datagram.
  Result<Received> try_peek_from(io::BufferMut buf) noexcept;

  // For poll functions; `waiter` and `wait` belong to the task that calls.
  Poll<Result<std::size_t>> poll_send(Context& cx, internal::SendWait& wait,
                                      std::span<const std::byte> data);
  Poll<Result<std::size_t>> poll_send_to(Context& cx, internal::SendWait& wait,
                                         std::span<const std::byte> data, const SocketAddr& to);
  Poll<Result<std::size_t>> poll_recv(Context& cx, internal::ReadinessWaiter& waiter,
                                      std::span<std::byte> buf);
  Poll<Result<Received>> poll_recv_from(Context& cx, internal::ReadinessWaiter& waiter,
                                        std::span<std::byte> buf);
  Poll<Result<Received>> poll_peek_from(Context& cx, internal::ReadinessWaiter& waiter,
                                        std::span<std::byte> buf);

  /// Linux reserves, and reports, twice as much.
  void set_send_buffer_size(std::size_t bytes);
  [[nodiscard]] std::size_t send_buffer_size() const;
  /// As set_send_buffer_size.
  void set_recv_buffer_size(std::size_t bytes);
  [[nodiscard]] std::size_t recv_buffer_size() const;

 protected:
  enum class Family : bool { ip, unix_domain };
  DatagramSocket(io::AsyncFd io, Family family) noexcept : Socket(std::move(io)), family_(family) {}
  DatagramSocket(DatagramSocket&&) noexcept = default;
  DatagramSocket& operator=(DatagramSocket&&) noexcept = default;
  ~DatagramSocket() = default;

 private:
  Result<std::size_t> send_once(std::span<const std::byte> data, const SocketAddr& to) noexcept;

  [[nodiscard]] internal::RoomIs room() const noexcept;

  Family family_;
};

/// Completes with the size of the datagram, or as much of it as fits into the buffer. A connected
/// socket receives only datagrams from its peer.
/// Cancel safety: dropping it loses nothing: the next receive gets the datagram.
/// Errors: Error::runtime_ended, and the system's.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] DatagramRecv
    : public ResultFuture<DatagramRecv, std::size_t> {
 public:
  DatagramRecv(DatagramSocket& socket, io::BufferMut buf) noexcept : socket_(&socket), buf_(buf) {}
  Poll<Result<std::size_t>> poll_result(Context& cx) {
    return socket_->poll_recv(cx, waiter_, buf_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(DatagramRecv, "recv", one, &DatagramRecv::socket_)

 private:
  DatagramSocket* socket_;
  io::BufferMut buf_;
  internal::ReadinessWaiter waiter_;
};

/// As DatagramRecv, and says who sent it and whether it was truncated.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] DatagramRecvFrom
    : public ResultFuture<DatagramRecvFrom, Received> {
 public:
  /// Whether the datagram is taken out.
  enum class Take : bool { away, peek };
  DatagramRecvFrom(DatagramSocket& socket, io::BufferMut buf, Take take) noexcept
      : socket_(&socket), buf_(buf), take_(take) {}
  Poll<Result<Received>> poll_result(Context& cx) {
    if (take_ == Take::peek) return socket_->poll_peek_from(cx, waiter_, buf_);
    return socket_->poll_recv_from(cx, waiter_, buf_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(DatagramRecvFrom, "recv_from", one, &DatagramRecvFrom::socket_)

 private:
  DatagramSocket* socket_;
  io::BufferMut buf_;
  internal::ReadinessWaiter waiter_;
  Take take_;
};

/// Completes when the system has accepted the datagram, with its size; delivery is not guaranteed.
/// Waits while the system has no room.
/// Cancel safety: if dropped midway, nothing was sent.
/// Errors: message_size if it is too long for a datagram; destination_address_required if the
/// socket is not connected (not_connected for Unix sockets); connection_refused, which may report
/// the fate of an earlier one.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] DatagramSend
    : public ResultFuture<DatagramSend, std::size_t> {
 public:
  DatagramSend(DatagramSocket& socket, io::Buffer data) noexcept : socket_(&socket), data_(data) {}
  Poll<Result<std::size_t>> poll_result(Context& cx) {
    return socket_->poll_send(cx, wait_, data_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(DatagramSend, "send", any_of, &DatagramSend::socket_, &DatagramSend::wait_)

 private:
  DatagramSocket* socket_;
  io::Buffer data_;
  internal::SendWait wait_;
};

/// As DatagramSend, to an address.
/// Errors: also address_family_not_supported if its family differs from the socket's.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] DatagramSendTo
    : public ResultFuture<DatagramSendTo, std::size_t> {
 public:
  DatagramSendTo(DatagramSocket& socket, io::Buffer data, const SocketAddr& to) noexcept
      : socket_(&socket), data_(data), to_(to) {}
  Poll<Result<std::size_t>> poll_result(Context& cx) {
    return socket_->poll_send_to(cx, wait_, data_, to_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(DatagramSendTo, "send_to", any_of, &DatagramSendTo::socket_, &DatagramSendTo::wait_)

 private:
  DatagramSocket* socket_;
  io::Buffer data_;
  SocketAddr to_;
  internal::SendWait wait_;
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
