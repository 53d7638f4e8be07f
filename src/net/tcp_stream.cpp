#include "rouse/net/tcp_stream.hpp"

#include "net/socket.hpp"
#include "sys/fd.hpp"

namespace rouse::net {

using sys::SocketOption;

Result<TcpStream> TcpStream::from_fd(io::OwnedFd fd) noexcept {
  if (const Result<void> set = sys::set_nonblocking(fd.get(), true); !set) return set.error();
  return io::AsyncFd::own(std::move(fd)).map([](io::AsyncFd io) {
    return TcpStream(std::move(io));
  });
}

void TcpStream::set_nodelay(bool on) { change_option(fd(), SocketOption::nodelay, on ? 1 : 0); }
bool TcpStream::nodelay() const { return option_of(fd(), SocketOption::nodelay) != 0; }
void TcpStream::set_keepalive(bool on) { change_option(fd(), SocketOption::keepalive, on ? 1 : 0); }
bool TcpStream::keepalive() const { return option_of(fd(), SocketOption::keepalive) != 0; }
void TcpStream::set_linger(std::optional<std::chrono::seconds> time) { change_linger(fd(), time); }
std::optional<std::chrono::seconds> TcpStream::linger() const {
  return sys::get_linger(fd()).value();
}
void TcpStream::set_ttl(std::uint32_t hops) { change_hops(fd(), hops); }
std::uint32_t TcpStream::ttl() const { return hops_of(fd()); }

}  // namespace rouse::net
