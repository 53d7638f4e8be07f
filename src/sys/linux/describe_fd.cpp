#include "sys/describe_fd.hpp"

#include <arpa/inet.h>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sys/address.hpp"

namespace rouse::sys {
namespace {

/// Whether the address is one that people read. Writes it.
bool write_address(const NativeAddress& address, std::span<char> out) noexcept {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.data()->sa_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address.storage);
    ::inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
    std::snprintf(out.data(), out.size(), "%s:%u", text, unsigned{ntohs(in.sin_port)});
    return true;
  }
  if (address.data()->sa_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(address.storage);
    ::inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof text);
    std::snprintf(out.data(), out.size(), "[%s]:%u", text, unsigned{ntohs(in.sin6_port)});
    return true;
  }
  const auto& local = reinterpret_cast<const sockaddr_un&>(address.storage);
  if (address.data()->sa_family != AF_UNIX || address.size <= offsetof(sockaddr_un, sun_path) ||
      local.sun_path[0] == 0) {
    return false;
  }
  std::snprintf(out.data(), out.size(), "%.*s", static_cast<int>(sizeof local.sun_path),
                local.sun_path);
  return true;
}

const char* kind_of(int fd, sa_family_t family) noexcept {
  if (family == AF_UNIX) return "unix";
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return "socket";
  return type == SOCK_STREAM ? "tcp" : type == SOCK_DGRAM ? "udp" : "socket";
}

}  // namespace

void describe_fd(int fd, std::span<char> out) noexcept {
  out[0] = 0;
  char local[128] = {};
  NativeAddress address;
  if (::getsockname(fd, address.data(), &address.size) == 0) {
    const char* const kind = kind_of(fd, address.data()->sa_family);
    const bool has_local = write_address(address, local);
    char peer[128] = {};
    NativeAddress other;
    const bool has_peer =
        ::getpeername(fd, other.data(), &other.size) == 0 && write_address(other, peer);
    if (has_local || has_peer) {
      std::snprintf(out.data(), out.size(), has_peer ? "%s %s peer %s" : "%s %s", kind, local,
                    peer);
      return;
    }
  }
  char link[32];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = ::readlink(link, out.data(), out.size() - 1);
  out[length < 0 ? 0 : static_cast<std::size_t>(length)] = 0;
}

}  // namespace rouse::sys
