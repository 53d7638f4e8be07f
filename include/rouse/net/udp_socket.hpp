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

#include "rouse/base/attributes.hpp"
#include "rouse/core/attempt.hpp"
#include "rouse/net/datagram_batch.hpp"
#include "rouse/net/datagram_socket.hpp"
#include "rouse/net/endpoint.hpp"

namespace rouse::net {

class RecvMany;
class SendMany;
class UdpBuilder;

class ROUSE_API UdpSocket : public DatagramSocket {
 public:
  /// A socket at an address; port 0 lets the system choose one (`local_addr` tells). A name is
  /// looked up and the first of its addresses that can be bound is taken. Tasks of a runtime.
  /// Errors: those of lookup_host; std::errc::address_in_use, permission_denied,
  /// address_not_available; address_family_not_supported if it is no IP address.
  static Attempt<UdpSocket> bind(Endpoint endpoint);
  /// The same with options that must be set before: see UdpBuilder.
  static UdpBuilder builder() noexcept;
  /// A datagram socket of yours.
  static Result<UdpSocket> from_fd(io::OwnedFd fd) noexcept;

  explicit UdpSocket(io::AsyncFd io) noexcept : DatagramSocket(std::move(io), Family::ip) {}
  [[nodiscard]] io::OwnedFd into_fd() && noexcept { return std::move(io_).into_fd(); }

  /// From now on `send` goes there and only what comes from there is received. Of several addresses
  /// of a host the first that works is taken. Sends nothing: nobody need be there. Dropped midway,
  /// the socket stays as it was. Errors: those of lookup_host; std::errc::network_unreachable;
  /// address_family_not_supported, e.g. an IPv6 address and a socket that was bound to an IPv4 one.
  Attempt<void> connect(Endpoint endpoint);

  using DatagramSocket::send_to;
  /// To an address as text, or a host, which is looked up each time. See DatagramSendTo.
  template <std::convertible_to<std::string_view> Text>
  Attempt<std::size_t> send_to(io::Buffer data, const Text& to) ROUSE_LIFETIMEBOUND {
    return send_to_host(data, std::string(std::string_view(to)));
  }

  /// See RecvMany.
  RecvMany recv_many(DatagramBatch& batch ROUSE_LIFETIMEBOUND) noexcept ROUSE_LIFETIMEBOUND;
  /// See SendMany.
  SendMany send_many(DatagramBatch& batch ROUSE_LIFETIMEBOUND) noexcept ROUSE_LIFETIMEBOUND;
  /// Without waiting; empties the batch first. Errors: operation_would_block, and those of the
  /// others.
  Result<std::size_t> try_recv_many(DatagramBatch& batch) noexcept;
  Poll<Result<std::size_t>> poll_recv_many(Context& cx, io::ReadinessWaiter& waiter,
                                           DatagramBatch& batch);
  Poll<Result<std::size_t>> poll_send_many(Context& cx, SendWait& wait, DatagramBatch& batch);

  /// Allows sending to a broadcast address.
  void set_broadcast(bool on);
  [[nodiscard]] bool broadcast() const;
  /// How far packets go: IPv4's TTL, IPv6's hop limit.
  void set_ttl(std::uint32_t hops);
  [[nodiscard]] std::uint32_t ttl() const;

  /// Receives what is sent to a group. The interface by its address; any: the system chooses.
  /// address_family_not_supported if they are no IPv4 addresses.
  void join_multicast_v4(const IpAddr& group, const IpAddr& interface = IpAddr::any());
  void leave_multicast_v4(const IpAddr& group, const IpAddr& interface = IpAddr::any());
  /// The interface by its number; 0: the system chooses.
  void join_multicast_v6(const IpAddr& group, std::uint32_t interface = 0);
  void leave_multicast_v6(const IpAddr& group, std::uint32_t interface = 0);
  /// Whether what is sent to a group comes back to members on this machine. Default: yes.
  void set_multicast_loop(bool on);
  [[nodiscard]] bool multicast_loop() const;
  /// How far it goes. Default: 1, to the neighbours.
  void set_multicast_ttl(std::uint32_t hops);
  [[nodiscard]] std::uint32_t multicast_ttl() const;
  /// The interface by which it leaves.
  void set_multicast_interface_v4(const IpAddr& interface);
  void set_multicast_interface_v6(std::uint32_t interface);

 private:
  Attempt<std::size_t> send_to_host(io::Buffer data, std::string host);
};

/// Options that must be set before a UdpSocket is bound.
///
///   auto socket = co_await net::UdpSocket::builder().reuseport(true).bind("0.0.0.0:5353");
class ROUSE_API UdpBuilder {
 public:
  UdpBuilder() noexcept = default;

  /// Several sockets may be bound to one address; for multicast, each gets all.
  UdpBuilder& reuseaddr(bool on) noexcept {
    reuseaddr_ = on;
    return *this;
  }
  /// The same for sockets of one user, among which the system deals out what comes.
  UdpBuilder& reuseport(bool on) noexcept {
    reuseport_ = on;
    return *this;
  }
  /// An IPv6 socket that takes no IPv4.
  UdpBuilder& only_v6(bool on) noexcept {
    only_v6_ = on;
    return *this;
  }
  /// See UdpSocket::bind.
  Attempt<UdpSocket> bind(Endpoint endpoint) const;

 private:
  static Attempt<UdpSocket> bind_with(UdpBuilder options, Endpoint endpoint);
  [[nodiscard]] Result<UdpSocket> bind_to(const SocketAddr& address) const noexcept;

  bool reuseaddr_ = false;
  bool reuseport_ = false;
  bool only_v6_ = false;
};

/// Completes with how many datagrams were received, at least one: the batch holds them and nothing
/// else. Empties the batch first, also of what was pushed and not sent, with each poll.
/// Dropped midway, nothing is lost and the batch is empty. Errors: as DatagramRecv.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] RecvMany
    : public Fallible<RecvMany, std::size_t> {
 public:
  RecvMany(UdpSocket& socket, DatagramBatch& batch) noexcept : socket_(socket), batch_(batch) {}
  Poll<Result<std::size_t>> poll_result(Context& cx) {
    return socket_.poll_recv_many(cx, waiter_, batch_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  UdpSocket& socket_;
  DatagramBatch& batch_;
  io::ReadinessWaiter waiter_;
};

/// Completes when the system has taken all datagrams of the batch, with their number. Dropped
/// midway, or when it fails, those up to DatagramBatch::sent went out: an error is that of the next
/// one. Sending the batch again goes on from there; DatagramBatch::skip passes one over. Errors: as
/// DatagramSendTo.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] SendMany
    : public Fallible<SendMany, std::size_t> {
 public:
  SendMany(UdpSocket& socket, DatagramBatch& batch) noexcept : socket_(socket), batch_(batch) {}
  Poll<Result<std::size_t>> poll_result(Context& cx) {
    return socket_.poll_send_many(cx, wait_, batch_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  UdpSocket& socket_;
  DatagramBatch& batch_;
  SendWait wait_;
};

inline UdpBuilder UdpSocket::builder() noexcept { return UdpBuilder(); }
inline RecvMany UdpSocket::recv_many(DatagramBatch& batch) noexcept { return {*this, batch}; }
inline SendMany UdpSocket::send_many(DatagramBatch& batch) noexcept { return {*this, batch}; }

}  // namespace rouse::net
