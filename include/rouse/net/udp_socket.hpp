// UdpSocket: datagrams over IP.
//
//   auto socket = co_await net::UdpSocket::bind("127.0.0.1:5353");
//   std::array<char, 1500> buf;
//   for (;;) {
//     auto [size, from] = co_await socket.recv_from(buf);
//     co_await socket.send_to({buf.data(), size}, from);
//   }
//
// Sending and receiving: see net::DatagramSocket. Options throw std::system_error.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/net/datagram_batch.hpp"
#include "rouse/net/datagram_socket.hpp"
#include "rouse/net/endpoint.hpp"

namespace rouse::net {

class RecvMany;
class SendMany;
class UdpBuilder;

class ROUSE_API UdpSocket : public DatagramSocket {
 public:
  /// A socket bound to an address; port 0 lets the system choose one (see `local_addr`). A name is
  /// looked up, and the first of its addresses that can be bound is used.
  /// Threads: tasks of a runtime.
  /// Errors: those of lookup_host; std::errc::address_in_use, permission_denied,
  /// address_not_available; address_family_not_supported if it is not an IP address.
  static AsyncResult<UdpSocket> bind(Endpoint endpoint);
  /// The same with options that must be set before binding: see UdpBuilder.
  static UdpBuilder builder() noexcept;
  /// Takes over a datagram socket.
  static Result<UdpSocket> from_fd(io::OwnedFd fd) noexcept;

  explicit UdpSocket(io::AsyncFd io) noexcept : DatagramSocket(std::move(io), Family::ip) {}

  /// From now on `send` goes to this peer, and only its datagrams are received. If a host has
  /// several addresses, the first that works is used. Sends nothing: nobody need listen there.
  /// Cancel safety: if dropped midway, the socket is unchanged.
  /// Errors: those of lookup_host; std::errc::network_unreachable; address_family_not_supported,
  /// e.g. an IPv6 address and a socket bound to an IPv4 one.
  AsyncResult<void> connect(Endpoint endpoint);

  using DatagramSocket::send_to;
  /// To an address as text, or a host, which is looked up each time. See DatagramSendTo.
  template <std::convertible_to<std::string_view> Text>
  AsyncResult<std::size_t> send_to(io::Buffer data, const Text& to) ROUSE_LIFETIMEBOUND {
    return send_to_host(data, std::string(std::string_view(to)));
  }

  /// See RecvMany.
  RecvMany recv_many(DatagramBatch& batch ROUSE_LIFETIMEBOUND) noexcept ROUSE_LIFETIMEBOUND;
  /// See SendMany.
  SendMany send_many(DatagramBatch& batch ROUSE_LIFETIMEBOUND) noexcept ROUSE_LIFETIMEBOUND;
  /// Without waiting; empties the batch first.
  /// Errors: operation_would_block, and those of the others.
  Result<std::size_t> try_recv_many(DatagramBatch& batch) noexcept;
  Poll<Result<std::size_t>> poll_recv_many(Context& cx, internal::ReadinessWaiter& waiter,
                                           DatagramBatch& batch);
  Poll<Result<std::size_t>> poll_send_many(Context& cx, internal::SendWait& wait,
                                           DatagramBatch& batch);

  /// Allows sending to a broadcast address.
  void set_broadcast(bool on);
  [[nodiscard]] bool broadcast() const;
  /// The hop limit of packets: IPv4's TTL, IPv6's hop limit.
  void set_ttl(std::uint32_t hops);
  [[nodiscard]] std::uint32_t ttl() const;

  /// Receives what is sent to a group. The interface is given by its address; any: the system
  /// chooses.
  /// Errors: address_family_not_supported if they are not IPv4 addresses.
  void join_multicast_v4(const IpAddr& group, const IpAddr& interface = IpAddr::any());
  /// As join_multicast_v4, the other way round.
  void leave_multicast_v4(const IpAddr& group, const IpAddr& interface = IpAddr::any());
  /// The interface is given by its number; 0: the system chooses.
  void join_multicast_v6(const IpAddr& group, std::uint32_t interface = 0);
  /// As join_multicast_v6, the other way round.
  void leave_multicast_v6(const IpAddr& group, std::uint32_t interface = 0);
  /// Whether datagrams sent to a group are also received on this machine. Default: yes.
  void set_multicast_loop(bool on);
  [[nodiscard]] bool multicast_loop() const;
  /// The hop limit of multicast. Default: 1, the local network.
  void set_multicast_ttl(std::uint32_t hops);
  [[nodiscard]] std::uint32_t multicast_ttl() const;
  /// The interface for outgoing multicast.
  void set_multicast_interface_v4(const IpAddr& interface);
  /// As set_multicast_interface_v4, by the number of the interface.
  void set_multicast_interface_v6(std::uint32_t interface);

 private:
  AsyncResult<std::size_t> send_to_host(io::Buffer data, std::string host);
};

/// Options that must be set before a UdpSocket is bound.
///
///   auto socket = co_await net::UdpSocket::builder().reuseport(true).bind("0.0.0.0:5353");
class ROUSE_API UdpBuilder {
 public:
  UdpBuilder() noexcept = default;

  /// Several sockets may be bound to one address; with multicast, each gets all datagrams.
  UdpBuilder& reuseaddr(bool on) noexcept;
  /// The same for sockets of one user; the system distributes datagrams among them.
  UdpBuilder& reuseport(bool on) noexcept;
  /// An IPv6 socket that does not accept IPv4.
  UdpBuilder& only_v6(bool on) noexcept;
  /// See UdpSocket::bind.
  AsyncResult<UdpSocket> bind(Endpoint endpoint) const;

 private:
  static AsyncResult<UdpSocket> bind_with(UdpBuilder options, Endpoint endpoint);
  [[nodiscard]] Result<UdpSocket> bind_to(const SocketAddr& address) const noexcept;

  bool reuseaddr_ = false;
  bool reuseport_ = false;
  bool only_v6_ = false;
};

/// Completes with how many datagrams were received, at least one: the batch then holds exactly
/// those. Each poll empties the batch first, even of what was pushed and not sent.
/// Cancel safety: dropping it loses nothing; the batch is then empty.
/// Errors: as DatagramRecv.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] RecvMany
    : public ResultFuture<RecvMany, std::size_t> {
 public:
  RecvMany(UdpSocket& socket, DatagramBatch& batch) noexcept : socket_(&socket), batch_(batch) {}
  Poll<Result<std::size_t>> poll_result(Context& cx) {
    return socket_->poll_recv_many(cx, waiter_, batch_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(RecvMany, "recv_many", one, &RecvMany::socket_)

 private:
  UdpSocket* socket_;
  DatagramBatch& batch_;
  internal::ReadinessWaiter waiter_;
};

/// Completes when the system has accepted all datagrams of the batch, with their number.
/// Cancel safety: if dropped midway, the first DatagramBatch::sent went out; sending the batch
/// again continues there.
/// Errors: as DatagramSendTo, for the first datagram that was not sent; DatagramBatch::skip skips
/// it.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] SendMany
    : public ResultFuture<SendMany, std::size_t> {
 public:
  SendMany(UdpSocket& socket, DatagramBatch& batch) noexcept : socket_(&socket), batch_(batch) {}
  Poll<Result<std::size_t>> poll_result(Context& cx) {
    return socket_->poll_send_many(cx, wait_, batch_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(SendMany, "send_many", any_of, &SendMany::socket_, &SendMany::wait_)

 private:
  UdpSocket* socket_;
  DatagramBatch& batch_;
  internal::SendWait wait_;
};

inline UdpBuilder UdpSocket::builder() noexcept { return UdpBuilder(); }
inline RecvMany UdpSocket::recv_many(DatagramBatch& batch) noexcept { return {*this, batch}; }
inline SendMany UdpSocket::send_many(DatagramBatch& batch) noexcept { return {*this, batch}; }

}  // namespace rouse::net
