// What others make of an address: the C library, and a plain parser that reads it from its end.
#pragma once

#include <arpa/inet.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>

#include "rouse/net/ip_addr.hpp"
#include "rouse/net/socket_addr.hpp"

namespace rouse::fuzz {

using net::IpAddr;
using net::SocketAddr;

/// What inet_pton makes of a text without NUL.
inline std::optional<IpAddr> system_parse(const std::string& text) {
  IpAddr::V4Bytes v4{};
  if (::inet_pton(AF_INET, text.c_str(), v4.data()) == 1) return IpAddr(v4);
  IpAddr::V6Bytes v6{};
  if (::inet_pton(AF_INET6, text.c_str(), v6.data()) == 1) return IpAddr(v6);
  return std::nullopt;
}

/// What inet_ntop prints. It has dots in more of the IPv6 addresses that hold an IPv4 one.
inline std::string system_print(const IpAddr& ip) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(ip.is_ipv6() ? AF_INET6 : AF_INET, ip.bytes().data(), text.data(), text.size());
  return text.data();
}

/// What getaddrinfo makes of a numeric host. It takes more than we do ("127.1").
inline std::optional<SocketAddr> system_resolve(const std::string& host) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return std::nullopt;
  std::optional<SocketAddr> address;
  if (found->ai_family == AF_INET) {
    sockaddr_in native{};
    std::memcpy(&native, found->ai_addr, sizeof native);
    IpAddr::V4Bytes bytes{};
    std::memcpy(bytes.data(), &native.sin_addr, bytes.size());
    address = SocketAddr(IpAddr(bytes), 0);
  } else {
    sockaddr_in6 native{};
    std::memcpy(&native, found->ai_addr, sizeof native);
    IpAddr::V6Bytes bytes{};
    std::memcpy(bytes.data(), &native.sin6_addr, bytes.size());
    address = SocketAddr(IpAddr(bytes), 0, native.sin6_scope_id);
  }
  ::freeaddrinfo(found);
  return address;
}

inline std::optional<std::uint32_t> plain_number(const std::string& text, std::uint64_t max) {
  const bool is_digits = text.find_first_not_of("0123456789") == std::string::npos;
  if (!is_digits || text.empty() || text.size() > 10) return std::nullopt;
  const std::uint64_t number = std::stoull(text);
  if (number > max || text != std::to_string(number)) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

/// "ip:port" and "[ip%scope]:port", from the end on, with the C library's word on what an IP is.
inline std::optional<SocketAddr> plain_parse(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || text.find('\0') != std::string::npos) return std::nullopt;
  const auto port = plain_number(text.substr(colon + 1), 65'535);
  if (!port) return std::nullopt;
  std::string host = text.substr(0, colon);
  const bool in_brackets = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  std::optional<std::uint32_t> scope(0);
  if (in_brackets) {
    host = host.substr(1, host.size() - 2);
    const std::size_t percent = host.find('%');
    if (percent != std::string::npos) {
      const std::string name = host.substr(percent + 1);
      scope = plain_number(name, UINT32_MAX);
      const unsigned known =
          name.find('\0') == std::string::npos ? ::if_nametoindex(name.c_str()) : 0;
      if (!scope && known != 0) scope = known;
    }
    host = host.substr(0, percent);
  }
  const auto ip = system_parse(host);
  if (!ip || !scope || ip->is_ipv6() != in_brackets) return std::nullopt;
  return SocketAddr(*ip, static_cast<std::uint16_t>(*port), *scope);
}

}  // namespace rouse::fuzz
