#include "rouse/net/tcp_listener.hpp"

#include "rouse/net/lookup_host.hpp"
#include "rouse/net/tcp_socket.hpp"

#include "net/poll_accept.hpp"
#include "sys/fd.hpp"

namespace rouse::net {
namespace {

Result<TcpListener> listen_at(const SocketAddr& address) {
  Result<TcpSocket> socket = TcpSocket::for_address(address);
  if (!socket) return socket.error();
  socket->set_reuseaddr(true);
  if (const auto bound = socket->try_bind(address); !bound) return bound.error();
  return std::move(*socket).try_listen(default_backlog);
}

}  // namespace

AsyncResult<TcpListener> TcpListener::bind(Endpoint endpoint) {
  const std::vector<SocketAddr> addresses = co_await lookup_host(std::move(endpoint));
  std::error_code first;
  for (const SocketAddr& address : addresses) {
    Result<TcpListener> listener = listen_at(address);
    if (listener) co_return listener;
    if (!first) first = listener.error();
  }
  co_return first;
}

Result<TcpListener> TcpListener::from_fd(io::OwnedFd fd) noexcept {
  if (const Result<void> set = sys::set_nonblocking(fd.get(), true); !set) return set.error();
  return io::AsyncFd::own(std::move(fd), io::Interest::readable).map([](io::AsyncFd io) {
    return TcpListener(std::move(io));
  });
}

Poll<Result<Accepted<TcpStream>>> TcpListener::poll_accept(Context& cx,
                                                           internal::AcceptWait& wait) {
  return net::poll_accept<TcpStream>(io_, cx, wait);
}

SocketAddr TcpListener::local_addr() const { return local_address(io_.fd()); }

}  // namespace rouse::net
