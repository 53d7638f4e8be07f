#include "sys/datagram.hpp"

#include <algorithm>
#include <cstring>
#include <netinet/in.h>
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

std::unique_ptr<DatagramArray> DatagramArray::make(std::size_t capacity,
                                                   std::size_t datagram_size) {
  return std::make_unique<Messages>(capacity, datagram_size);
}

}  // namespace rouse::sys
