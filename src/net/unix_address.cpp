#include "net/unix_address.hpp"

#include "net/native_address.hpp"

namespace rouse::net {

Result<SocketAddr> understand_unix(const Endpoint& endpoint) noexcept {
  if (endpoint.address()) {
    if (endpoint.address()->is_unix()) return *endpoint.address();
    return std::errc::address_family_not_supported;
  }
  if (endpoint.port()) return std::errc::address_family_not_supported;
  const std::string_view text = endpoint.text();
  if (text.starts_with("unix:")) return SocketAddr::parse(text);
  if (text.starts_with('@')) return SocketAddr::unix_abstract(text.substr(1));
  // Somebody mistook the type of the socket: a file of that name would hide it.
  if (SocketAddr::parse(text)) return std::errc::address_family_not_supported;
  return SocketAddr::unix_path(text);
}

Result<io::OwnedFd> bind_unix(const Endpoint& endpoint, sys::SocketKind kind) noexcept {
  const Result<SocketAddr> address = understand_unix(endpoint);
  if (!address) return address.error();
  Result<io::OwnedFd> fd = sys::open_socket(native_family(*address), kind);
  if (!fd) return fd.error();
  const Result<void> bound = sys::bind(fd->get(), to_native(*address));
  if (!bound) return bound.error();
  return fd;
}

}  // namespace rouse::net
