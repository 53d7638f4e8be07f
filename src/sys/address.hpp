// The sys seam, addresses: an address as the system's calls take and give it. What it means is
// known to src/net/native_address.hpp.
#pragma once

#include <sys/socket.h>

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

}  // namespace rouse::sys
