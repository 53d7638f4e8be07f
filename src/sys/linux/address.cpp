#include "sys/address.hpp"

#include <arpa/inet.h>
#include <cstddef>
#include <cstring>
#include <netinet/in.h>
#include <new>
#include <sys/un.h>

namespace rouse::sys {

Result<NativeAddress> unix_address(std::string_view path) noexcept {
  sockaddr_un wanted{};
  if (path.empty() || path.find('\0') != std::string_view::npos) return std::errc::invalid_argument;
  if (path.size() >= sizeof wanted.sun_path) return std::errc::filename_too_long;
  wanted.sun_family = AF_UNIX;
  std::memcpy(wanted.sun_path, path.data(), path.size());
  NativeAddress address;
  std::memcpy(address.data(), &wanted, sizeof wanted);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

NativeAddress loopback_address(std::uint16_t port) noexcept {
  sockaddr_in wanted{};
  wanted.sin_family = AF_INET;
  wanted.sin_port = htons(port);
  wanted.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  NativeAddress address;
  std::memcpy(address.data(), &wanted, sizeof wanted);
  address.size = sizeof wanted;
  return address;
}

std::uint16_t port_of(const NativeAddress& address) noexcept {
  sockaddr_in known{};
  std::memcpy(&known, address.data(), sizeof known);
  return known.sin_family == AF_INET ? ntohs(known.sin_port) : std::uint16_t{0};
}

}  // namespace rouse::sys
