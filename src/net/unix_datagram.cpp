#include "rouse/net/unix_datagram.hpp"

#include "net/native_address.hpp"
#include "net/unix_address.hpp"
#include "sys/fd.hpp"
#include "sys/socket.hpp"

namespace rouse::net {

AsyncResult<UnixDatagram> UnixDatagram::bind(Endpoint endpoint) {
  Result<io::OwnedFd> fd = bind_unix(endpoint, sys::SocketKind::datagram);
  if (!fd) co_return fd.error();
  co_return from_fd(*std::move(fd));
}

UnixDatagram UnixDatagram::unbound() {
  const int family = native_family(SocketAddr::unix_unnamed());
  return from_fd(sys::open_socket(family, sys::SocketKind::datagram).value()).value();
}

std::pair<UnixDatagram, UnixDatagram> UnixDatagram::pair() {
  auto [one, other] = sys::socket_pair(sys::SocketKind::datagram).value();
  return {from_fd(std::move(one)).value(), from_fd(std::move(other)).value()};
}

Result<UnixDatagram> UnixDatagram::from_fd(io::OwnedFd fd) noexcept {
  if (const Result<void> set = sys::set_nonblocking(fd.get(), true); !set) return set.error();
  return io::AsyncFd::own(std::move(fd)).map([](io::AsyncFd io) {
    return UnixDatagram(std::move(io));
  });
}

AsyncResult<void> UnixDatagram::connect(Endpoint endpoint) {
  const Result<SocketAddr> address = understand_unix(endpoint);
  if (!address) co_return address.error();
  const Result<bool> connected = sys::connect(fd(), to_native(*address));
  if (!connected) co_return connected.error();
  co_return Result<void>();
}

AsyncResult<std::size_t> UnixDatagram::send_to_text(io::Buffer data, Endpoint to) {
  const Result<SocketAddr> address = understand_unix(to);
  if (!address) co_return address.error();
  co_return co_await send_to(data, *address).result();
}

}  // namespace rouse::net
