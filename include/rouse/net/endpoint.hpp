// net::Endpoint: the argument of bind, connect and lookup_host: an address, or the name of a host
// and a port. Converts from:
//
//   bind("127.0.0.1:80")   bind("[::1]:80")   bind("unix:/run/app.sock")   bind(a_socket_addr)
//   connect("localhost:80")   connect({"localhost", 80})   connect({net::IpAddr::loopback(), 80})
//
// It owns its text. Nothing is checked before it is resolved: see net::lookup_host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rouse/net/socket_addr.hpp"

namespace rouse::net {

class Endpoint {
 public:
  /// "host:port", or an address as SocketAddr::parse takes it.
  Endpoint(std::string text) noexcept : text_(std::move(text)) {}
  Endpoint(std::string_view text) : text_(text) {}
  Endpoint(const char* text) : text_(text) {}
  Endpoint(const SocketAddr& address) noexcept : address_(address) {}
  Endpoint(const IpAddr& ip, std::uint16_t port) noexcept : address_(SocketAddr(ip, port)) {}
  /// A name or a numeric address, IPv6 without brackets; and the port.
  Endpoint(std::string host, std::uint16_t port) noexcept : text_(std::move(host)), port_(port) {}

  /// The address, if it was made from one.
  [[nodiscard]] const std::optional<SocketAddr>& address() const noexcept { return address_; }
  /// Otherwise its text: "host:port" if there is no `port`, or the host.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The port, if it was given apart from the host.
  [[nodiscard]] const std::optional<std::uint16_t>& port() const noexcept { return port_; }

  /// For messages.
  [[nodiscard]] std::string to_string() const {
    if (address_) return address_->to_string();
    return port_ ? text_ + ':' + std::to_string(*port_) : text_;
  }

 private:
  std::optional<SocketAddr> address_;
  std::string text_;
  std::optional<std::uint16_t> port_;
};

}  // namespace rouse::net
