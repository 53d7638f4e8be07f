#include "rouse/net/unix_listener.hpp"

#include "net/poll_accept.hpp"
#include "net/unix_address.hpp"
#include "sys/fd.hpp"

namespace rouse::net {

AsyncResult<UnixListener> UnixListener::bind(Endpoint endpoint) {
  Result<io::OwnedFd> fd = bind_unix(endpoint, sys::SocketKind::stream);
  if (!fd) co_return fd.error();
  const Result<void> listening = sys::listen(fd->get(), default_backlog);
  if (!listening) co_return listening.error();
  co_return from_fd(*std::move(fd));
}

Result<UnixListener> UnixListener::from_fd(io::OwnedFd fd) noexcept {
  if (const Result<void> set = sys::set_nonblocking(fd.get(), true); !set) return set.error();
  return io::AsyncFd::own(std::move(fd), io::Interest::readable).map([](io::AsyncFd io) {
    return UnixListener(std::move(io));
  });
}

Poll<Result<Accepted<UnixStream>>> UnixListener::poll_accept(Context& cx,
                                                             internal::AcceptWait& wait) {
  return net::poll_accept<UnixStream>(io_, cx, wait);
}

SocketAddr UnixListener::local_addr() const { return local_address(io_.fd()); }

}  // namespace rouse::net
