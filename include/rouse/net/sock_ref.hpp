// SockRef: options of a socket that few programs set, for every kind of socket that has them.
//
//   net::SockRef(stream).set_user_timeout(std::chrono::seconds(10));
//   net::SockRef(udp).set_tos(0xb8);                    // expedited forwarding
//
// It borrows the socket. All of these throw std::system_error, also if the socket is of a kind that
// has no such option.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"

namespace rouse::net {

class ROUSE_API SockRef {
 public:
  /// Of a TcpStream, TcpSocket, TcpListener, UdpSocket, or whatever else has an `fd()`.
  template <class Socket>
    requires requires(const Socket& socket) {
      { socket.fd() } -> std::same_as<int>;
    }
  explicit SockRef(const Socket& socket ROUSE_LIFETIMEBOUND) noexcept : fd_(socket.fd()) {}

  /// TCP: what arrives is acknowledged at once. The system may turn it off again.
  void set_quickack(bool on) const;
  [[nodiscard]] bool quickack() const;
  /// TCP: how long sent bytes may stay unacknowledged before the connection is closed (timed_out).
  /// 0: as long as the system sees fit. Less than zero is invalid_argument.
  void set_user_timeout(std::chrono::milliseconds time) const;
  [[nodiscard]] std::chrono::milliseconds user_timeout() const;
  /// How packets are to be treated on their way: the TOS byte of IPv4, the traffic class of IPv6
  /// (a socket of both families gets both). The system keeps the two low bits of TCP to itself.
  void set_tos(std::uint8_t value) const;
  [[nodiscard]] std::uint8_t tos() const;
  /// Packets go and come through this network interface only ("eth0"); empty: through any.
  /// Errors: no_such_device; invalid_argument for a name that none can have (over 15 bytes, or with
  /// a NUL in it); operation_not_permitted if it is bound to one already and the program
  /// may not change that.
  void bind_device(std::string_view interface) const;
  /// The network interface it is bound to; empty: to none.
  [[nodiscard]] std::string device() const;

 private:
  int fd_;
};

}  // namespace rouse::net
