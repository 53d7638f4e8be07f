#include "sys/datagram.hpp"

#include <algorithm>
#include <cstring>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <vector>

#include "sys/linux/call.hpp"

namespace rouse::sys {

Result<std::size_t> receive_from(int fd, std::span<std::byte> buf, NativeAddress& from,
                                 Take take) noexcept {
  const int flags = MSG_TRUNC | (take == Take::peek ? MSG_PEEK : 0);
  return count_of([&] {
    from.size = sizeof from.storage;
    return ::recvfrom(fd, buf.data(), buf.size(), flags, from.data(), &from.size);
  });
}

Result<std::size_t> send_to(int fd, std::span<const std::byte> data,
                            const NativeAddress& to) noexcept {
  return count_of(
      [&] { return ::sendto(fd, data.data(), data.size(), MSG_NOSIGNAL, to.data(), to.size); });
}

namespace {

/// Room for all that may go along, aligned as cmsghdr needs it.
class Control {
 public:
  [[nodiscard]] void* data() noexcept { return bytes_; }
  static constexpr std::size_t capacity =
      CMSG_SPACE(sizeof(in6_pktinfo)) + CMSG_SPACE(sizeof(in_pktinfo)) + CMSG_SPACE(sizeof(int));

  template <class T>
  void add(int level, int type, const T& value) noexcept {
    cmsghdr header{};
    header.cmsg_level = level;
    header.cmsg_type = type;
    header.cmsg_len = CMSG_LEN(sizeof value);
    std::memcpy(bytes_ + used_, &header, sizeof header);
    std::memcpy(bytes_ + used_ + CMSG_LEN(0), &value, sizeof value);
    used_ += CMSG_SPACE(sizeof value);
  }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }

 private:
  alignas(cmsghdr) unsigned char bytes_[capacity] = {};
  std::size_t used_ = 0;
};

template <class T>
T value_of(const cmsghdr& header) noexcept {
  T value{};
  std::memcpy(&value, CMSG_DATA(&header), sizeof value);
  return value;
}

template <class Address>
void take_address(const Address& address, PacketInfo& info) noexcept {
  std::memcpy(info.address.data(), &address, sizeof address);
  info.address_size = sizeof address;
}

void take(const cmsghdr& header, PacketInfo& info) noexcept {
  if (header.cmsg_level == IPPROTO_IP && header.cmsg_type == IP_PKTINFO) {
    const auto found = value_of<in_pktinfo>(header);
    take_address(found.ipi_addr, info);
    info.interface = static_cast<std::uint32_t>(found.ipi_ifindex);
  } else if (header.cmsg_level == IPPROTO_IPV6 && header.cmsg_type == IPV6_PKTINFO) {
    const auto found = value_of<in6_pktinfo>(header);
    take_address(found.ipi6_addr, info);
    info.interface = found.ipi6_ifindex;
  } else if (header.cmsg_level == IPPROTO_UDP && header.cmsg_type == UDP_GRO) {
    info.segment_size = static_cast<std::size_t>(value_of<int>(header));
  }
}

void add_packet_info(const PacketInfo& info, Control& control) noexcept {
  if (info.address_size == 0 && info.interface == 0) return;
  if (info.is_v6) {
    in6_pktinfo wanted{};
    std::memcpy(&wanted.ipi6_addr, info.address.data(), info.address_size);
    wanted.ipi6_ifindex = info.interface;
    control.add(IPPROTO_IPV6, IPV6_PKTINFO, wanted);
  } else {
    in_pktinfo wanted{};
    std::memcpy(&wanted.ipi_spec_dst, info.address.data(), info.address_size);
    wanted.ipi_ifindex = static_cast<int>(info.interface);
    control.add(IPPROTO_IP, IP_PKTINFO, wanted);
  }
}

}  // namespace

Result<std::size_t> receive_message(int fd, std::span<std::byte> buf, NativeAddress& from,
                                    PacketInfo& info) noexcept {
  Control control;
  iovec vec{.iov_base = buf.data(), .iov_len = buf.size()};
  msghdr message{};
  const Result<std::size_t> size = count_of([&] {
    message.msg_name = from.data();
    message.msg_namelen = sizeof from.storage;
    message.msg_iov = &vec;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = Control::capacity;
    return ::recvmsg(fd, &message, MSG_TRUNC | MSG_DONTWAIT);
  });
  if (!size) return size;
  from.size = message.msg_namelen;
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
       each = CMSG_NXTHDR(&message, each)) {
    take(*each, info);
  }
  return size;
}

Result<std::size_t> send_message(int fd, std::span<const std::byte> data, const NativeAddress* to,
                                 const PacketInfo& info) noexcept {
  NativeAddress name;
  Control control;
  add_packet_info(info, control);
  if (info.segment_size != 0) {
    control.add(IPPROTO_UDP, UDP_SEGMENT, static_cast<std::uint16_t>(info.segment_size));
  }
  iovec vec{.iov_base = const_cast<std::byte*>(data.data()), .iov_len = data.size()};
  msghdr message{};
  if (to != nullptr) {
    name = *to;
    message.msg_name = name.data();
    message.msg_namelen = name.size;
  }
  message.msg_iov = &vec;
  message.msg_iovlen = 1;
  if (control.used() != 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.used();
  }
  return count_of([&] { return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT); });
}

Result<void> change_membership_v4(int fd, Membership change, std::span<const std::uint8_t> group,
                                  std::span<const std::uint8_t> interface) noexcept {
  ip_mreq request{};
  std::memcpy(&request.imr_multiaddr, group.data(), sizeof request.imr_multiaddr);
  std::memcpy(&request.imr_interface, interface.data(), sizeof request.imr_interface);
  const int option = change == Membership::join ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP;
  return done([&] { return ::setsockopt(fd, IPPROTO_IP, option, &request, sizeof request); });
}
Result<void> change_membership_v6(int fd, Membership change, std::span<const std::uint8_t> group,
                                  std::uint32_t interface) noexcept {
  ipv6_mreq request{};
  std::memcpy(&request.ipv6mr_multiaddr, group.data(), sizeof request.ipv6mr_multiaddr);
  request.ipv6mr_interface = interface;
  const int option = change == Membership::join ? IPV6_ADD_MEMBERSHIP : IPV6_DROP_MEMBERSHIP;
  return done([&] { return ::setsockopt(fd, IPPROTO_IPV6, option, &request, sizeof request); });
}
Result<void> set_multicast_interface_v4(int fd, std::span<const std::uint8_t> interface) noexcept {
  in_addr address{};
  std::memcpy(&address, interface.data(), sizeof address);
  return done(
      [&] { return ::setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &address, sizeof address); });
}

bool is_without_buffers(std::error_code error) noexcept {
  return error == error_of(ENOBUFS) || error == std::make_error_code(std::errc::no_buffer_space);
}

namespace {

class Messages final : public DatagramArray {
 public:
  Messages(std::size_t capacity, std::size_t datagram_size)
      : datagram_size_(datagram_size),
        bytes_(capacity * datagram_size),
        addresses_(capacity),
        vecs_(capacity),
        headers_(capacity) {
    for (std::size_t i = 0; i < capacity; ++i) {
      vecs_[i].iov_base = bytes_.data() + i * datagram_size_;
      headers_[i].msg_hdr.msg_iov = &vecs_[i];
      headers_[i].msg_hdr.msg_iovlen = 1;
    }
  }

  Result<std::size_t> receive(int fd) noexcept override {
    for (std::size_t i = 0; i < headers_.size(); ++i) {
      vecs_[i].iov_len = datagram_size_;
      headers_[i].msg_hdr.msg_name = &addresses_[i];
      headers_[i].msg_hdr.msg_namelen = sizeof(sockaddr_storage);
    }
    return count_of([&] {
      return ::recvmmsg(fd, headers_.data(), count(headers_.size()), MSG_TRUNC | MSG_DONTWAIT,
                        nullptr);
    });
  }

  Result<std::size_t> send(int fd, std::size_t first, std::size_t end) noexcept override {
    return count_of(
        [&] { return ::sendmmsg(fd, headers_.data() + first, count(end - first), MSG_NOSIGNAL); });
  }

  std::span<std::byte> buffer(std::size_t i) noexcept override {
    return {bytes_.data() + i * datagram_size_, datagram_size_};
  }
  std::size_t full_size(std::size_t i) const noexcept override { return headers_[i].msg_len; }
  NativeAddress address(std::size_t i) const noexcept override {
    NativeAddress address;
    address.storage = addresses_[i];
    address.size = headers_[i].msg_hdr.msg_namelen;
    return address;
  }
  void set(std::size_t i, std::size_t size, const NativeAddress* to) noexcept override {
    vecs_[i].iov_len = size;
    headers_[i].msg_len = static_cast<unsigned>(size);
    headers_[i].msg_hdr.msg_name = to == nullptr ? nullptr : &addresses_[i];
    headers_[i].msg_hdr.msg_namelen = to == nullptr ? 0 : to->size;
    if (to != nullptr) addresses_[i] = to->storage;
  }

 private:
  static unsigned count(std::size_t n) noexcept {
    return static_cast<unsigned>(std::min<std::size_t>(n, UIO_MAXIOV));  // the system's limit
  }

  const std::size_t datagram_size_;
  std::vector<std::byte> bytes_;
  std::vector<sockaddr_storage> addresses_;
  std::vector<iovec> vecs_;
  std::vector<mmsghdr> headers_;
};

}  // namespace

internal::Box<DatagramArray> DatagramArray::make(std::size_t capacity, std::size_t datagram_size) {
  return internal::make_box<Messages>(capacity, datagram_size);
}

}  // namespace rouse::sys
