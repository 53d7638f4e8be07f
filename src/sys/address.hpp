// The sys seam, addresses: an address as the system's calls take and give it. What it means is
// known to src/net/native_address.hpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <sys/socket.h>

#include "rouse/base/result.hpp"

namespace rouse::sys {

/// New, it is empty and has room for any address: for accept, getsockname and recvfrom, which are
/// given `data()` and `&size`.
class NativeAddress {
 public:
  NativeAddress() noexcept = default;

  sockaddr* data() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] const sockaddr* data() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage);
  }

  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);
};

/// Of a Unix socket with a file. Errors: filename_too_long (107 bytes fit), invalid_argument.
Result<NativeAddress> unix_address(std::string_view path) noexcept;
/// A port of 127.0.0.1; 0: any that is free.
NativeAddress loopback_address(std::uint16_t port) noexcept;
/// Of an IPv4 address.
std::uint16_t port_of(const NativeAddress& address) noexcept;

}  // namespace rouse::sys
