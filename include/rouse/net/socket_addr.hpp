// net::SocketAddr: the address of a socket: an IP address and a port, or a Unix path. One value
// type for all of them.
//
//   net::SocketAddr web(net::IpAddr::loopback(), 80);
//   auto addr = net::SocketAddr::parse("[::1]:0").value();
//
// As text:  127.0.0.1:80   [::1]:80   [fe80::1%2]:80 (interface 2, or by its name: %eth0)
//           unix:/run/app.sock   unix:@name (abstract: in no directory)   unix: (without a name)
// parse takes these and nothing else, so parse(to_string(a)) == a. The exceptions: a Unix path that
// begins with '@' prints as unix:./@..., which names the same file, and an interface as its number.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/net/ip_addr.hpp"

namespace rouse::sys {
class NativeAddress;
}  // namespace rouse::sys

namespace rouse::net {

class ROUSE_API SocketAddr {
 public:
  /// The longest path of a Unix socket, in bytes.
  static constexpr std::size_t longest_path = 107;

  /// 0.0.0.0:0
  SocketAddr() noexcept : SocketAddr(IpAddr(), 0) {}
  SocketAddr(IpAddr ip, std::uint16_t port) noexcept;
  /// An IPv6 address on one interface, given by its number; 0 means none. For IPv4 it must be 0.
  SocketAddr(IpAddr ip, std::uint16_t port, std::uint32_t scope_id) noexcept;

  /// Errors: see net::Error.
  [[nodiscard]] static Result<SocketAddr> parse(std::string_view text) noexcept;
  /// A Unix socket in the file system.
  /// Errors: empty_path, path_too_long, path_has_nul.
  [[nodiscard]] static Result<SocketAddr> unix_path(std::string_view path) noexcept;
  /// An abstract Unix socket, with a name of any bytes and without a file.
  /// Errors: path_too_long.
  [[nodiscard]] static Result<SocketAddr> unix_abstract(std::string_view name) noexcept;
  /// The address of an unbound Unix socket. Binding to it assigns an abstract name.
  [[nodiscard]] static SocketAddr unix_unnamed() noexcept;

  /// An IPv4 address and a port.
  [[nodiscard]] bool is_ipv4() const noexcept { return kind_ == Kind::ipv4; }
  /// An IPv6 address and a port.
  [[nodiscard]] bool is_ipv6() const noexcept { return kind_ == Kind::ipv6; }
  /// IPv4 or IPv6.
  [[nodiscard]] bool is_ip() const noexcept { return !is_unix(); }
  /// A Unix socket: with a path, with an abstract name, or unnamed.
  [[nodiscard]] bool is_unix() const noexcept { return kind_ >= Kind::unix_unnamed; }
  /// A Unix socket that was not bound.
  [[nodiscard]] bool is_unnamed() const noexcept { return kind_ == Kind::unix_unnamed; }
  /// A Unix socket with an abstract name.
  [[nodiscard]] bool is_abstract() const noexcept { return kind_ == Kind::unix_abstract; }

  /// For IP addresses only; a Unix address has none.
  [[nodiscard]] IpAddr ip() const noexcept;
  [[nodiscard]] std::uint16_t port() const noexcept {
    require_ip();
    return port_;
  }
  /// Of an IP address.
  void set_port(std::uint16_t port) noexcept {
    require_ip();
    port_ = port;
  }
  /// The interface of an IPv6 address; 0: none.
  [[nodiscard]] std::uint32_t scope_id() const noexcept { return scope_id_; }
  /// The path of a Unix address, or its abstract name; empty if it has none, and for IP addresses.
  [[nodiscard]] std::string_view path() const noexcept ROUSE_LIFETIMEBOUND;

  /// As text: "127.0.0.1:80", "[::1]:80", "unix:/path".
  [[nodiscard]] std::string to_string() const;

  /// IPv4 before IPv6 before Unix; by address, then by port.
  friend auto operator<=>(const SocketAddr&, const SocketAddr&) noexcept = default;

 private:
  friend Result<SocketAddr> from_native(const sys::NativeAddress& native) noexcept;
  enum class Kind : std::uint8_t { ipv4, ipv6, unix_unnamed, unix_path, unix_abstract };

  SocketAddr(Kind kind, std::string_view path) noexcept;
  void require_ip() const noexcept {
    ROUSE_ASSERT(is_ip(), "ip() or port() of a Unix address: ask is_ip() first, or use path()");
  }

  Kind kind_;
  std::array<std::uint8_t, 108> bytes_{};  // the address or the path, then zeros
  std::uint8_t path_size_ = 0;
  std::uint16_t port_ = 0;
  std::uint32_t scope_id_ = 0;
};

ROUSE_API std::ostream& operator<<(std::ostream& out, const SocketAddr& address);

}  // namespace rouse::net

template <>
struct std::hash<rouse::net::SocketAddr> {
  ROUSE_API std::size_t operator()(const rouse::net::SocketAddr& address) const noexcept;
};
