#include "rouse/net/udp_message.hpp"

#include <algorithm>
#include <array>

#include "net/native_address.hpp"
#include "net/socket.hpp"
#include "sys/datagram.hpp"

namespace rouse {

using sys::SocketOption;

namespace {

template <std::size_t n>
net::IpAddr ip_of(const sys::PacketInfo& info) noexcept {
  std::array<std::uint8_t, n> bytes{};
  std::copy_n(info.address.begin(), n, bytes.begin());
  return net::IpAddr(bytes);
}

}  // namespace

Result<net::RecvMeta> internal::RecvMessage::operator()() const noexcept {
  sys::NativeAddress from;
  sys::PacketInfo info;
  const Result<std::size_t> size = sys::receive_message(fd_, buf_, from, info);
  if (!size) return size.error();
  const Result<net::SocketAddr> sender = net::from_native(from);
  if (!sender) return sender.error();
  net::RecvMeta meta;
  meta.full_size = *size;
  meta.size = std::min(*size, buf_.size());
  meta.from = *sender;
  meta.interface = info.interface;
  meta.segment_size = info.segment_size != 0 ? info.segment_size : meta.size;
  if (info.address_size == 4) meta.to = ip_of<4>(info);
  if (info.address_size == 16) meta.to = ip_of<16>(info);
  return meta;
}

Result<std::size_t> internal::SendMessage::operator()() const noexcept {
  sys::PacketInfo info;
  info.segment_size = transmit_.segment_size;
  info.interface = transmit_.interface;
  const Result<int> family = sys::family_of(fd_);
  if (!family) return family.error();
  info.is_v6 = *family == net::native_family(net::SocketAddr(net::IpAddr::any_v6(), 0));
  if (transmit_.from) {
    if (transmit_.from->is_ipv6() != info.is_v6) return std::errc::address_family_not_supported;
    const auto bytes = transmit_.from->bytes();
    info.address_size = bytes.size();
    std::ranges::copy(bytes, info.address.begin());
  }
  if (!transmit_.to) return sys::send_message(fd_, transmit_.data, nullptr, info);
  if (!transmit_.to->is_ip()) return std::errc::address_family_not_supported;
  const sys::NativeAddress to = net::to_native(*transmit_.to);
  const Result<std::size_t> sent = sys::send_message(fd_, transmit_.data, &to, info);
  if (!sent && !io::would_block(sent.error())) {
    return net::address_error(fd_, *transmit_.to, sent.error());
  }
  return sent;
}

namespace net {

void set_packet_info(const UdpSocket& socket, bool on) {
  const int fd = socket.fd();
  change_option(fd, is_v6(fd) ? SocketOption::packet_info_v6 : SocketOption::packet_info_v4, on);
}
void set_gro(const UdpSocket& socket, bool on) {
  change_option(socket.fd(), SocketOption::udp_gro, on ? 1 : 0);
}
std::size_t max_gso_segments(const UdpSocket& socket) noexcept {
  constexpr std::size_t most = 64;  // of all kernels that have it
  return sys::get_option(socket.fd(), SocketOption::udp_segment) ? most : 1;
}

}  // namespace net
}  // namespace rouse
