#include "rouse/net/tcp_socket.hpp"

#include "net/native_address.hpp"
#include "net/socket.hpp"

namespace rouse::net {

using sys::SocketOption;

namespace {

const SocketAddr& any_v6() noexcept {
  static const SocketAddr address(IpAddr::any_v6(), 0);
  return address;
}

}  // namespace

TcpSocket TcpSocket::v4() { return for_address(SocketAddr()).value(); }
TcpSocket TcpSocket::v6() { return for_address(any_v6()).value(); }

Result<TcpSocket> TcpSocket::for_address(const SocketAddr& address) noexcept {
  if (!address.is_ip()) return std::errc::address_family_not_supported;
  Result<io::OwnedFd> fd = sys::open_socket(native_family(address), sys::SocketKind::stream);
  if (!fd) return fd.error();
  return TcpSocket(*std::move(fd));
}

void TcpSocket::set_reuseaddr(bool on) {
  change_option(fd(), SocketOption::reuse_address, on ? 1 : 0);
}
bool TcpSocket::reuseaddr() const { return option_of(fd(), SocketOption::reuse_address) != 0; }
void TcpSocket::set_reuseport(bool on) {
  change_option(fd(), SocketOption::reuse_port, on ? 1 : 0);
}
bool TcpSocket::reuseport() const { return option_of(fd(), SocketOption::reuse_port) != 0; }
void TcpSocket::set_nodelay(bool on) { change_option(fd(), SocketOption::nodelay, on ? 1 : 0); }
bool TcpSocket::nodelay() const { return option_of(fd(), SocketOption::nodelay) != 0; }
void TcpSocket::set_keepalive(bool on) { change_option(fd(), SocketOption::keepalive, on ? 1 : 0); }
bool TcpSocket::keepalive() const { return option_of(fd(), SocketOption::keepalive) != 0; }
void TcpSocket::set_keepalive_times(std::chrono::seconds idle, std::chrono::seconds interval,
                                    int probes) {
  const int idle_seconds = whole_seconds(idle);
  const int interval_seconds = whole_seconds(interval);
  change_option(fd(), SocketOption::keepalive_idle, idle_seconds);
  change_option(fd(), SocketOption::keepalive_interval, interval_seconds);
  change_option(fd(), SocketOption::keepalive_count, probes);
}
void TcpSocket::set_linger(std::optional<std::chrono::seconds> time) { change_linger(fd(), time); }
std::optional<std::chrono::seconds> TcpSocket::linger() const {
  return sys::get_linger(fd()).value();
}
void TcpSocket::set_send_buffer_size(std::size_t bytes) {
  change_option(fd(), SocketOption::send_buffer, clamp_to_int(bytes));
}
std::size_t TcpSocket::send_buffer_size() const {
  return static_cast<std::size_t>(option_of(fd(), SocketOption::send_buffer));
}
void TcpSocket::set_recv_buffer_size(std::size_t bytes) {
  change_option(fd(), SocketOption::receive_buffer, clamp_to_int(bytes));
}
std::size_t TcpSocket::recv_buffer_size() const {
  return static_cast<std::size_t>(option_of(fd(), SocketOption::receive_buffer));
}
void TcpSocket::set_only_v6(bool on) { change_option(fd(), SocketOption::only_v6, on ? 1 : 0); }

void TcpSocket::bind(const SocketAddr& address) { try_bind(address).value(); }
void TcpSocket::bind(std::string_view address) { bind(SocketAddr::parse(address).value()); }
Result<void> TcpSocket::try_bind(const SocketAddr& address) noexcept {
  if (!address.is_ip()) return std::errc::address_family_not_supported;
  const Result<void> bound = sys::bind(fd(), to_native(address));
  if (!bound) return address_error(fd(), address, bound.error());
  return bound;
}
SocketAddr TcpSocket::local_addr() const { return local_address(fd()); }

TcpListener TcpSocket::listen(int backlog) && {
  return std::move(*this).try_listen(backlog).value();
}
Result<TcpListener> TcpSocket::try_listen(int backlog) && noexcept {
  if (const auto listening = sys::listen(fd(), backlog); !listening) return listening.error();
  return TcpListener::from_fd(std::move(fd_));
}

AsyncResult<TcpStream> TcpSocket::connect(SocketAddr address) && {
  return connect_with(std::move(*this), address);
}

AsyncResult<TcpStream> TcpSocket::connect_with(TcpSocket socket, SocketAddr address) {
  if (!address.is_ip()) co_return std::errc::address_family_not_supported;
  const Result<bool> begun = sys::connect(socket.fd(), to_native(address));
  if (!begun) co_return address_error(socket.fd(), address, begun.error());
  Result<io::AsyncFd> io = io::AsyncFd::own(std::move(socket.fd_));
  if (!io) co_return io.error();
  if (!*begun) {
    const int fd = io->fd();
    const auto outcome = [fd] { return sys::connected(fd); };
    const Result<void> connected = co_await io->async_io(io::Interest::writable, outcome).result();
    if (!connected) co_return connected.error();
  }
  co_return TcpStream(*std::move(io));
}

}  // namespace rouse::net
