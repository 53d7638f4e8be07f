#include <vector>

#include "rouse/net/lookup_host.hpp"
#include "rouse/net/udp_socket.hpp"

#include "net/native_address.hpp"
#include "net/socket.hpp"

namespace rouse::net {

using sys::SocketOption;

Result<UdpSocket> UdpBuilder::bind_to(const SocketAddr& address) const noexcept {
  if (!address.is_ip()) return std::errc::address_family_not_supported;
  Result<io::OwnedFd> fd = sys::open_socket(native_family(address), sys::SocketKind::datagram);
  if (!fd) return fd.error();
  const auto turn_on = [&](SocketOption option) { return sys::set_option(fd->get(), option, 1); };
  Result<void> step;
  if (reuseaddr_) step = turn_on(SocketOption::reuse_address);
  if (step && reuseport_) step = turn_on(SocketOption::reuse_port);
  if (step && only_v6_ && address.is_ipv6()) step = turn_on(SocketOption::only_v6);
  if (step) step = sys::bind(fd->get(), to_native(address));
  if (!step) return step.error();
  return UdpSocket::from_fd(*std::move(fd));
}

Attempt<UdpSocket> UdpBuilder::bind(Endpoint endpoint) const {
  return bind_with(*this, std::move(endpoint));
}

Attempt<UdpSocket> UdpBuilder::bind_with(UdpBuilder options, Endpoint endpoint) {
  const std::vector<SocketAddr> addresses = co_await lookup_host(std::move(endpoint));
  std::error_code first;
  for (const SocketAddr& address : addresses) {
    Result<UdpSocket> socket = options.bind_to(address);
    if (socket) co_return socket;
    if (!first) first = socket.error();
  }
  co_return first;
}

}  // namespace rouse::net
