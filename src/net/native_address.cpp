#include "net/native_address.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <netinet/in.h>
#include <sys/un.h>

namespace rouse::net {
namespace {

constexpr std::size_t path_offset = offsetof(sockaddr_un, sun_path);
static_assert(sizeof(sockaddr_un::sun_path) > SocketAddr::longest_path);

template <class T>
void store(const T& from, std::size_t size, sys::NativeAddress& to) noexcept {
  std::memcpy(&to.storage, &from, sizeof from);
  to.size = static_cast<socklen_t>(size);
}

template <class T>
T load(const sys::NativeAddress& from) noexcept {
  T to;
  std::memcpy(&to, &from.storage, sizeof to);
  return to;
}

void store_unix(const SocketAddr& address, sys::NativeAddress& to) noexcept {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  const std::string_view path = address.path();
  if (address.is_unnamed()) return store(un, path_offset, to);
  if (address.is_abstract()) {  // a NUL, then the name
    path.copy(un.sun_path + 1, path.size());
    return store(un, path_offset + 1 + path.size(), to);
  }
  path.copy(un.sun_path, path.size());
  const std::size_t with_nul = std::min(path.size() + 1, sizeof un.sun_path);
  store(un, path_offset + with_nul, to);
}

template <std::size_t n>
IpAddr ip_of(const void* bytes) noexcept {
  std::array<std::uint8_t, n> copy{};
  std::memcpy(copy.data(), bytes, n);
  return IpAddr(copy);
}

}  // namespace

int native_family(const SocketAddr& address) noexcept {
  if (address.is_unix()) return AF_UNIX;
  return address.is_ipv6() ? AF_INET6 : AF_INET;
}

sys::NativeAddress to_native(const SocketAddr& address) noexcept {
  sys::NativeAddress native;
  if (address.is_unix()) {
    store_unix(address, native);
  } else if (address.is_ipv4()) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(address.port());
    const IpAddr ip = address.ip();
    std::memcpy(&in.sin_addr, ip.bytes().data(), sizeof in.sin_addr);
    store(in, sizeof in, native);
  } else {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(address.port());
    in.sin6_scope_id = address.scope_id();
    const IpAddr ip = address.ip();
    std::memcpy(&in.sin6_addr, ip.bytes().data(), sizeof in.sin6_addr);
    store(in, sizeof in, native);
  }
  return native;
}

Result<SocketAddr> from_native(const sys::NativeAddress& native) noexcept {
  using Kind = SocketAddr::Kind;
  if (native.size == 0) return SocketAddr::unix_unnamed();
  if (native.size < path_offset) return std::errc::address_family_not_supported;
  if (native.storage.ss_family == AF_UNIX) {
    const auto un = load<sockaddr_un>(native);
    const std::size_t size = std::min<std::size_t>(native.size - path_offset, sizeof un.sun_path);
    if (size == 0) return SocketAddr::unix_unnamed();
    if (un.sun_path[0] == '\0') {
      return SocketAddr(Kind::unix_abstract, {un.sun_path + 1, size - 1});
    }
    return SocketAddr(Kind::unix_path, {un.sun_path, ::strnlen(un.sun_path, size)});
  }
  if (native.storage.ss_family == AF_INET && native.size >= sizeof(sockaddr_in)) {
    const auto in = load<sockaddr_in>(native);
    return SocketAddr(ip_of<4>(&in.sin_addr), ntohs(in.sin_port));
  }
  if (native.storage.ss_family == AF_INET6 && native.size >= sizeof(sockaddr_in6)) {
    const auto in = load<sockaddr_in6>(native);
    return SocketAddr(ip_of<16>(&in.sin6_addr), ntohs(in.sin6_port), in.sin6_scope_id);
  }
  return std::errc::address_family_not_supported;
}

}  // namespace rouse::net
