#include "rouse/net/socket_addr.hpp"

#include <algorithm>
#include <ostream>

#include "net/number.hpp"
#include "sys/resolve.hpp"

namespace rouse::net {
namespace {

constexpr std::string_view unix_prefix = "unix:";

Result<SocketAddr> parse_unix(std::string_view text) noexcept {
  if (text.empty()) return SocketAddr::unix_unnamed();
  if (text.front() == '@') return SocketAddr::unix_abstract(text.substr(1));
  return SocketAddr::unix_path(text);
}

Result<std::uint16_t> parse_port(std::string_view text) noexcept {
  if (text.empty()) return make_error_code(Error::missing_port);
  const auto port = parse_decimal(text, 65'535);
  if (!port) return make_error_code(Error::bad_port);
  return static_cast<std::uint16_t>(*port);
}

/// "[ip%scope]:port"
Result<SocketAddr> parse_bracketed(std::string_view text) noexcept {
  const std::size_t close = text.find(']');
  if (close == std::string_view::npos) return make_error_code(Error::unclosed_bracket);
  const std::string_view inside = text.substr(1, close - 1);
  const std::string_view after = text.substr(close + 1);

  const std::size_t percent = inside.find('%');
  const auto ip = IpAddr::parse(inside.substr(0, percent));
  if (!ip) return ip.error();
  if (!ip->is_ipv6()) return make_error_code(Error::bad_ip);
  std::uint32_t scope_id = 0;
  if (percent != std::string_view::npos) {
    const std::string_view scope = inside.substr(percent + 1);
    const auto number = parse_decimal(scope, 0xffff'ffffU);
    scope_id = number ? *number : sys::interface_number(scope);
    if (!number && scope_id == 0) return make_error_code(Error::bad_scope);
  }
  if (after.empty()) return make_error_code(Error::missing_port);
  if (after.front() != ':') return make_error_code(Error::bad_port);
  const auto port = parse_port(after.substr(1));
  if (!port) return port.error();
  return SocketAddr(*ip, *port, scope_id);
}

/// "ip:port"
Result<SocketAddr> parse_ip_and_port(std::string_view text) noexcept {
  const std::size_t colon = text.find(':');
  const auto ip = IpAddr::parse(text.substr(0, colon));
  if (colon == std::string_view::npos) {
    return make_error_code(ip ? Error::missing_port : Error::bad_ip);
  }
  if (!ip) return ip.error();
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return port.error();
  return SocketAddr(*ip, *port);
}

/// "::1", "::1:80"
bool is_v6_without_brackets(std::string_view text) noexcept {
  const auto ip = IpAddr::parse(text.substr(0, text.find('%')));
  return ip && ip->is_ipv6();
}

}  // namespace

SocketAddr::SocketAddr(IpAddr ip, std::uint16_t port) noexcept : SocketAddr(ip, port, 0) {}

SocketAddr::SocketAddr(IpAddr ip, std::uint16_t port, std::uint32_t scope_id) noexcept
    : kind_(ip.is_ipv6() ? Kind::ipv6 : Kind::ipv4), port_(port), scope_id_(scope_id) {
  ROUSE_ASSERT(ip.is_ipv6() || scope_id == 0,
               "an IPv4 address was given a scope: only IPv6 addresses have one");
  std::ranges::copy(ip.bytes(), bytes_.begin());
}

/// The caller has checked the size.
SocketAddr::SocketAddr(Kind kind, std::string_view path) noexcept
    : kind_(kind), path_size_(static_cast<std::uint8_t>(path.size())) {
  std::ranges::transform(path, bytes_.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
}

Result<SocketAddr> SocketAddr::parse(std::string_view text) noexcept {
  if (text.starts_with(unix_prefix)) return parse_unix(text.substr(unix_prefix.size()));
  if (text.starts_with('[')) return parse_bracketed(text);
  if (is_v6_without_brackets(text)) return make_error_code(Error::ipv6_needs_brackets);
  return parse_ip_and_port(text);
}

Result<SocketAddr> SocketAddr::unix_path(std::string_view path) noexcept {
  if (path.empty()) return make_error_code(Error::empty_path);
  if (path.size() > longest_path) return make_error_code(Error::path_too_long);
  if (path.find('\0') != std::string_view::npos) return make_error_code(Error::path_has_nul);
  return SocketAddr(Kind::unix_path, path);
}

Result<SocketAddr> SocketAddr::unix_abstract(std::string_view name) noexcept {
  if (name.size() > longest_path) return make_error_code(Error::path_too_long);
  return SocketAddr(Kind::unix_abstract, name);
}

SocketAddr SocketAddr::unix_unnamed() noexcept { return SocketAddr(Kind::unix_unnamed, {}); }

IpAddr SocketAddr::ip() const noexcept {
  require_ip();
  if (is_ipv4()) return IpAddr(bytes_[0], bytes_[1], bytes_[2], bytes_[3]);
  IpAddr::V6Bytes bytes{};
  std::copy_n(bytes_.begin(), bytes.size(), bytes.begin());
  return IpAddr(bytes);
}

std::string_view SocketAddr::path() const noexcept {
  return {reinterpret_cast<const char*>(bytes_.data()), path_size_};
}

std::string SocketAddr::to_string() const {
  std::string text;
  switch (kind_) {
    case Kind::ipv4:
      return ip().to_string() + ':' + std::to_string(port_);
    case Kind::ipv6:
      text = '[' + ip().to_string();
      if (scope_id_ != 0) text += '%' + std::to_string(scope_id_);
      return text + "]:" + std::to_string(port_);
    case Kind::unix_unnamed:
      return std::string(unix_prefix);
    case Kind::unix_path:
      text = unix_prefix;
      if (path().starts_with('@')) text += "./";
      return text.append(path());
    case Kind::unix_abstract:
      text = unix_prefix;
      return text.append("@").append(path());
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const SocketAddr& address) {
  return out << address.to_string();
}

}  // namespace rouse::net

std::size_t std::hash<rouse::net::SocketAddr>::operator()(
    const rouse::net::SocketAddr& address) const noexcept {
  if (address.is_unix()) return std::hash<std::string_view>()(address.path());
  // The multiplier spreads the ports over all bits (2^64 / golden ratio).
  const std::uint64_t rest =
      (std::uint64_t{address.scope_id()} << 16U | address.port()) * 0x9e37'79b9'7f4a'7c15U;
  return std::hash<rouse::net::IpAddr>()(address.ip()) ^ static_cast<std::size_t>(rest);
}
