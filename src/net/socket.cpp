#include "net/socket.hpp"

#include "net/native_address.hpp"

namespace rouse::net {

SocketAddr local_address(int fd) { return from_native(sys::local_address(fd).value()).value(); }

void change_option(int fd, sys::SocketOption option, int value) {
  sys::set_option(fd, option, value).value();
}
int option_of(int fd, sys::SocketOption option) { return sys::get_option(fd, option).value(); }

Result<AcceptedFd> accept_next(int listener) noexcept {
  for (;;) {
    AcceptedFd accepted;
    Result<io::OwnedFd> fd = sys::accept(listener, accepted.peer);
    if (fd) {
      accepted.fd = *std::move(fd);
      return accepted;
    }
    if (!sys::is_of_one_connection(fd.error())) return fd.error();
  }
}

}  // namespace rouse::net
