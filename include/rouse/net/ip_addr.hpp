// net::IpAddr: an IPv4 or an IPv6 address, a value of 17 bytes. The default is 0.0.0.0.
//
//   net::IpAddr here = net::IpAddr::loopback();              // 127.0.0.1
//   net::IpAddr v4(192, 168, 0, 1);
//   Result<net::IpAddr> v6 = net::IpAddr::parse("2001:db8::1");
//
// parse accepts what RFC 4291 (IPv6) and dotted quads of decimal numbers allow and nothing else: no
// spaces, no "010", no "127.1". to_string prints IPv6 as in RFC 5952, so that parse(to_string(a))
// == a.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/net/error.hpp"

namespace rouse::net {

class ROUSE_API IpAddr {
 public:
  /// The bytes of an IPv4 address, in the order in which they are sent.
  using V4Bytes = std::array<std::uint8_t, 4>;
  /// The bytes of an IPv6 address, in the order in which they are sent.
  using V6Bytes = std::array<std::uint8_t, 16>;

  constexpr IpAddr() noexcept = default;
  constexpr IpAddr(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) noexcept
      : IpAddr(V4Bytes{a, b, c, d}) {}
  /// The bytes in the order in which they are sent.
  explicit constexpr IpAddr(const V4Bytes& bytes) noexcept {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes_[i] = bytes[i];
  }
  explicit constexpr IpAddr(const V6Bytes& bytes) noexcept : is_v6_(true), bytes_(bytes) {}

  /// 127.0.0.1
  static constexpr IpAddr loopback() noexcept { return IpAddr(127, 0, 0, 1); }
  /// ::1
  static constexpr IpAddr loopback_v6() noexcept {
    V6Bytes bytes{};
    bytes[15] = 1;
    return IpAddr(bytes);
  }
  /// 0.0.0.0: to listen on all IPv4 interfaces.
  static constexpr IpAddr any() noexcept { return IpAddr(); }
  /// ::
  static constexpr IpAddr any_v6() noexcept { return IpAddr(V6Bytes{}); }

  /// An address as text, without brackets, port or scope.
  /// Errors: Error::bad_ip.
  [[nodiscard]] static Result<IpAddr> parse(std::string_view text) noexcept;

  /// Also true for 0.0.0.0.
  [[nodiscard]] constexpr bool is_ipv4() const noexcept { return !is_v6_; }
  /// Also true for an IPv4-mapped address.
  [[nodiscard]] constexpr bool is_ipv6() const noexcept { return is_v6_; }
  /// 127.0.0.0/8, ::1. This and what follows is asked of the address in an IPv4-mapped one.
  [[nodiscard]] constexpr bool is_loopback() const noexcept {
    const IpAddr ip = to_canonical();
    return ip.is_v6_ ? ip == loopback_v6() : ip.bytes_[0] == 127;
  }
  /// 0.0.0.0, ::
  [[nodiscard]] constexpr bool is_unspecified() const noexcept {
    return to_canonical().bytes_ == V6Bytes{};
  }
  /// 224.0.0.0/4, ff00::/8
  [[nodiscard]] constexpr bool is_multicast() const noexcept {
    const IpAddr ip = to_canonical();
    return ip.is_v6_ ? ip.bytes_[0] == 0xff : (ip.bytes_[0] & 0xf0U) == 0xe0;
  }
  /// The address of one host of the internet: none of a private network, a link or this host, none
  /// for documentation or tests, no tunnel's (6to4, Teredo), no multicast or broadcast. One of
  /// NAT64 (64:ff9b::/96) is what the IPv4 address in it is.
  [[nodiscard]] bool is_global() const noexcept;
  /// An IPv4 address inside an IPv6 one: ::ffff:a.b.c.d.
  [[nodiscard]] constexpr bool is_ipv4_mapped() const noexcept {
    constexpr V6Bytes mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return is_v6_ && std::equal(mapped.begin(), mapped.begin() + 12, bytes_.begin());
  }
  /// The IPv4 address inside an IPv4-mapped one; others stay as they are.
  [[nodiscard]] constexpr IpAddr to_canonical() const noexcept {
    if (!is_ipv4_mapped()) return *this;
    return IpAddr(bytes_[12], bytes_[13], bytes_[14], bytes_[15]);
  }

  /// 4 or 16 bytes in the order in which they are sent.
  [[nodiscard]] constexpr std::span<const std::uint8_t> bytes() const noexcept ROUSE_LIFETIMEBOUND {
    return std::span(bytes_).first(is_v6_ ? 16 : 4);
  }
  /// As `parse` takes it.
  [[nodiscard]] std::string to_string() const;

  /// IPv4 comes before IPv6.
  friend constexpr auto operator<=>(const IpAddr&, const IpAddr&) noexcept = default;

 private:
  bool is_v6_ = false;
  V6Bytes bytes_{};  // zero where an IPv4 address has none
};

ROUSE_API std::ostream& operator<<(std::ostream& out, const IpAddr& address);

}  // namespace rouse::net

template <>
struct std::hash<rouse::net::IpAddr> {
  std::size_t operator()(const rouse::net::IpAddr& address) const noexcept {
    const auto bytes = address.bytes();
    return std::hash<std::string_view>()(
        std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
};
