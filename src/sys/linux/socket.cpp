#include "sys/socket.hpp"

#include <cstring>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>

#include "sys/linux/call.hpp"
#include "sys/linux/iovecs.hpp"

namespace rouse::sys {
namespace {

int type_of(SocketKind kind) noexcept {
  return (kind == SocketKind::stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
}

struct OptionName {
  int level;
  int name;
};

OptionName name_of(SocketOption option) noexcept {
  switch (option) {
    case SocketOption::reuse_address:
      return {SOL_SOCKET, SO_REUSEADDR};
    case SocketOption::reuse_port:
      return {SOL_SOCKET, SO_REUSEPORT};
    case SocketOption::nodelay:
      return {IPPROTO_TCP, TCP_NODELAY};
    case SocketOption::keepalive:
      return {SOL_SOCKET, SO_KEEPALIVE};
    case SocketOption::keepalive_idle:
      return {IPPROTO_TCP, TCP_KEEPIDLE};
    case SocketOption::keepalive_interval:
      return {IPPROTO_TCP, TCP_KEEPINTVL};
    case SocketOption::keepalive_count:
      return {IPPROTO_TCP, TCP_KEEPCNT};
    case SocketOption::send_buffer:
      return {SOL_SOCKET, SO_SNDBUF};
    case SocketOption::receive_buffer:
      return {SOL_SOCKET, SO_RCVBUF};
    case SocketOption::broadcast:
      return {SOL_SOCKET, SO_BROADCAST};
    case SocketOption::ttl:
      return {IPPROTO_IP, IP_TTL};
    case SocketOption::multicast_loop_v4:
      return {IPPROTO_IP, IP_MULTICAST_LOOP};
    case SocketOption::multicast_ttl_v4:
      return {IPPROTO_IP, IP_MULTICAST_TTL};
    case SocketOption::hops_v6:
      return {IPPROTO_IPV6, IPV6_UNICAST_HOPS};
    case SocketOption::multicast_loop_v6:
      return {IPPROTO_IPV6, IPV6_MULTICAST_LOOP};
    case SocketOption::multicast_hops_v6:
      return {IPPROTO_IPV6, IPV6_MULTICAST_HOPS};
    case SocketOption::multicast_interface_v6:
      return {IPPROTO_IPV6, IPV6_MULTICAST_IF};
    case SocketOption::only_v6:
      return {IPPROTO_IPV6, IPV6_V6ONLY};
    case SocketOption::quick_ack:
      return {IPPROTO_TCP, TCP_QUICKACK};
    case SocketOption::user_timeout:
      return {IPPROTO_TCP, TCP_USER_TIMEOUT};
    case SocketOption::tos:
      return {IPPROTO_IP, IP_TOS};
    case SocketOption::traffic_class_v6:
      return {IPPROTO_IPV6, IPV6_TCLASS};
    case SocketOption::packet_info_v4:
      return {IPPROTO_IP, IP_PKTINFO};
    case SocketOption::packet_info_v6:
      return {IPPROTO_IPV6, IPV6_RECVPKTINFO};
    case SocketOption::udp_gro:
      return {IPPROTO_UDP, UDP_GRO};
    case SocketOption::udp_segment:
      return {IPPROTO_UDP, UDP_SEGMENT};
  }
  return {0, 0};
}

/// A call that fills an address in.
template <class Fn>
Result<NativeAddress> address_of(Fn&& call) noexcept {
  NativeAddress address;
  if (call(address.data(), &address.size) != 0) return last_error();
  return address;
}

}  // namespace

Result<io::OwnedFd> open_socket(int family, SocketKind kind) noexcept {
  io::OwnedFd fd(::socket(family, type_of(kind), 0));
  if (!fd) return last_error();
  return fd;
}

Result<std::pair<io::OwnedFd, io::OwnedFd>> socket_pair(SocketKind kind) noexcept {
  int ends[2];
  if (::socketpair(AF_UNIX, type_of(kind), 0, ends) != 0) return last_error();
  return std::pair(io::OwnedFd(ends[0]), io::OwnedFd(ends[1]));
}

Result<void> bind(int fd, const NativeAddress& address) noexcept {
  return done([&] { return ::bind(fd, address.data(), address.size); });
}
Result<void> listen(int fd, int backlog) noexcept {
  return done([&] { return ::listen(fd, backlog); });
}

Result<io::OwnedFd> accept(int fd, NativeAddress& peer) noexcept {
  io::OwnedFd accepted(retry([&] {
    peer.size = sizeof(peer.storage);
    return ::accept4(fd, peer.data(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  }));
  if (!accepted) return last_error();
  return accepted;
}

// EINTR: the connect goes on by itself.
Result<bool> connect(int fd, const NativeAddress& address) noexcept {
  if (::connect(fd, address.data(), address.size) == 0) return true;
  if (errno == EINPROGRESS || errno == EINTR) return false;
  return last_error();
}

Result<void> connected(int fd) noexcept {
  pollfd look{.fd = fd, .events = POLLOUT, .revents = 0};
  const int count = retry([&] { return ::poll(&look, 1, 0); });
  if (count < 0) return last_error();
  if (count == 0) return std::errc::operation_would_block;
  return take_error(fd);
}

Result<void> shutdown_write(int fd) noexcept {
  return done([&] { return ::shutdown(fd, SHUT_WR); });
}

Result<std::size_t> receive(int fd, std::span<std::byte> buf) noexcept {
  return count_of([&]() -> ssize_t {
    if constexpr (sanitized) return ::recv(fd, buf.data(), buf.size(), 0);
    return ::syscall(SYS_recvfrom, fd, buf.data(), buf.size(), 0, nullptr, nullptr);
  });
}
Result<std::size_t> peek(int fd, std::span<std::byte> buf) noexcept {
  return count_of([&] { return ::recv(fd, buf.data(), buf.size(), MSG_PEEK); });
}
Result<std::size_t> receivev(int fd, std::span<const io::BufferMut> bufs) noexcept {
  Iovecs vecs(bufs);
  return count_of([&] { return ::readv(fd, vecs.data(), vecs.size()); });
}
Result<std::size_t> send(int fd, std::span<const std::byte> data) noexcept {
  return count_of([&]() -> ssize_t {
    if constexpr (sanitized) return ::send(fd, data.data(), data.size(), MSG_NOSIGNAL);
    return ::syscall(SYS_sendto, fd, data.data(), data.size(), MSG_NOSIGNAL, nullptr, 0);
  });
}
Result<std::size_t> sendv(int fd, std::span<const io::Buffer> bufs) noexcept {
  Iovecs vecs(bufs);
  msghdr message{};
  message.msg_iov = vecs.data();
  message.msg_iovlen = static_cast<std::size_t>(vecs.size());
  return count_of([&] { return ::sendmsg(fd, &message, MSG_NOSIGNAL); });
}

Result<NativeAddress> local_address(int fd) noexcept {
  return address_of(
      [fd](sockaddr* data, socklen_t* size) { return ::getsockname(fd, data, size); });
}
Result<NativeAddress> peer_address(int fd) noexcept {
  return address_of(
      [fd](sockaddr* data, socklen_t* size) { return ::getpeername(fd, data, size); });
}

Result<void> set_option(int fd, SocketOption option, int value) noexcept {
  const OptionName at = name_of(option);
  return done([&] { return ::setsockopt(fd, at.level, at.name, &value, sizeof(value)); });
}
Result<int> get_option(int fd, SocketOption option) noexcept {
  const OptionName at = name_of(option);
  int value = 0;
  socklen_t size = sizeof(value);
  if (::getsockopt(fd, at.level, at.name, &value, &size) != 0) return last_error();
  return value;
}

Result<void> set_linger(int fd, std::optional<int> seconds) noexcept {
  const linger value{.l_onoff = seconds.has_value() ? 1 : 0, .l_linger = seconds.value_or(0)};
  return done([&] { return ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &value, sizeof(value)); });
}
Result<std::optional<std::chrono::seconds>> get_linger(int fd) noexcept {
  linger value{};
  socklen_t size = sizeof(value);
  if (::getsockopt(fd, SOL_SOCKET, SO_LINGER, &value, &size) != 0) return last_error();
  std::optional<std::chrono::seconds> time;
  if (value.l_onoff != 0) time = std::chrono::seconds(value.l_linger);
  return time;
}

Result<void> set_device(int fd, std::string_view name) noexcept {
  // The system would cut it off, and take another one's name for it.
  if (name.size() >= IF_NAMESIZE || name.find('\0') != std::string_view::npos)
    return std::errc::invalid_argument;
  return done([&] {
    return ::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name.data(),
                        static_cast<socklen_t>(name.size()));
  });
}
Result<std::string> get_device(int fd) {
  char name[IF_NAMESIZE] = {};
  socklen_t size = sizeof(name);
  if (::getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &size) != 0) return last_error();
  return std::string(name, ::strnlen(name, size));
}

Result<int> family_of(int fd) noexcept {
  int family = 0;
  socklen_t size = sizeof(family);
  if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0) return last_error();
  return family;
}

Result<PeerCredentials> peer_credentials(int fd) noexcept {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return last_error();
  return PeerCredentials{.pid = peer.pid, .uid = peer.uid, .gid = peer.gid};
}

Result<void> take_error(int fd) noexcept {
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return last_error();
  if (error != 0) return error_of(error);
  return {};
}

bool is_of_one_connection(std::error_code error) noexcept {
  if (error.category() != std::system_category()) return false;
  switch (error.value()) {  // accept(2): errors of the network that are pending on the new socket
    case ECONNABORTED:
    case EPROTO:
    case ENOPROTOOPT:
    case ENETDOWN:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EPERM:  // a firewall forbids the connection
      return true;
    default:
      return false;
  }
}

bool is_out_of_resources(std::error_code error) noexcept {
  switch (error.value()) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case ENOSPC:  // epoll's own limit
      return error.category() == std::system_category() ||
             error.category() == std::generic_category();
    default:
      return false;
  }
}

}  // namespace rouse::sys
