#include "rouse/net/udp_socket.hpp"

#include <vector>

#include "rouse/net/lookup_host.hpp"

#include "net/native_address.hpp"
#include "net/poll_send.hpp"
#include "net/socket.hpp"
#include "sys/datagram.hpp"
#include "sys/fd.hpp"

namespace rouse::net {

using namespace internal;

using sys::Membership;
using sys::SocketOption;

namespace {

SocketOption loop_option(int fd) {
  return is_v6(fd) ? SocketOption::multicast_loop_v6 : SocketOption::multicast_loop_v4;
}
SocketOption multicast_hops_option(int fd) {
  return is_v6(fd) ? SocketOption::multicast_hops_v6 : SocketOption::multicast_ttl_v4;
}

void require(bool right_family) {
  if (!right_family) Result<void>(std::errc::address_family_not_supported).value();
}

void change_v4(int fd, Membership change, const IpAddr& group, const IpAddr& interface) {
  require(group.is_ipv4() && interface.is_ipv4());
  sys::change_membership_v4(fd, change, group.bytes(), interface.bytes()).value();
}
void change_v6(int fd, Membership change, const IpAddr& group, std::uint32_t interface) {
  require(group.is_ipv6());
  sys::change_membership_v6(fd, change, group.bytes(), interface).value();
}

}  // namespace

AsyncResult<UdpSocket> UdpSocket::bind(Endpoint endpoint) {
  return UdpBuilder().bind(std::move(endpoint));
}

Result<UdpSocket> UdpSocket::from_fd(io::OwnedFd fd) noexcept {
  if (const Result<void> set = sys::set_nonblocking(fd.get(), true); !set) return set.error();
  return io::AsyncFd::own(std::move(fd)).map([](io::AsyncFd io) {
    return UdpSocket(std::move(io));
  });
}

AsyncResult<void> UdpSocket::connect(Endpoint endpoint) {
  const std::vector<SocketAddr> addresses = co_await lookup_host(std::move(endpoint));
  std::error_code failure;
  for (const SocketAddr& address : addresses) {
    const Result<bool> connected = sys::connect(fd(), to_native(address));
    if (connected) co_return Result<void>();
    // That a host has addresses of the other family too says less than what went wrong with ours.
    if (!failure || failure == std::errc::address_family_not_supported) {
      failure = address_error(fd(), address, connected.error());
    }
  }
  co_return failure;
}

AsyncResult<std::size_t> UdpSocket::send_to_host(io::Buffer data, std::string host) {
  const std::vector<SocketAddr> addresses = co_await lookup_host(std::move(host));
  std::error_code failure;
  for (const SocketAddr& address : addresses) {
    const Result<std::size_t> sent = co_await send_to(data, address).result();
    if (sent) co_return sent;
    if (!failure || failure == std::errc::address_family_not_supported) failure = sent.error();
  }
  co_return failure;
}

Result<std::size_t> UdpSocket::try_recv_many(DatagramBatch& batch) noexcept {
  batch.clear();  // receiving uses the places of what was pushed, also if nothing comes
  return io_.try_io(io::Interest::readable, [&] { return batch.receive_once(fd()); });
}
Poll<Result<std::size_t>> UdpSocket::poll_recv_many(Context& cx, ReadinessWaiter& waiter,
                                                    DatagramBatch& batch) {
  batch.clear();
  return io_.poll_io(cx, io::Interest::readable, waiter, [&] { return batch.receive_once(fd()); });
}

Poll<Result<std::size_t>> UdpSocket::poll_send_many(Context& cx, internal::SendWait& wait,
                                                    DatagramBatch& batch) {
  using Sent = Poll<Result<std::size_t>>;
  while (batch.sent() < batch.size()) {
    const auto polled = net::poll_send(io_, cx, wait, internal::RoomIs::told,
                                       [&] { return batch.send_once(fd()); });
    if (polled.is_pending()) return pending;
    if (!polled.value()) return Sent::ready(Result<std::size_t>(polled.value().error()));
  }
  return Sent::ready(batch.size());
}

void UdpSocket::set_broadcast(bool on) { change_option(fd(), SocketOption::broadcast, on ? 1 : 0); }
bool UdpSocket::broadcast() const { return option_of(fd(), SocketOption::broadcast) != 0; }
void UdpSocket::set_ttl(std::uint32_t hops) { change_hops(fd(), hops); }
std::uint32_t UdpSocket::ttl() const { return hops_of(fd()); }

void UdpSocket::join_multicast_v4(const IpAddr& group, const IpAddr& interface) {
  change_v4(fd(), Membership::join, group, interface);
}
void UdpSocket::leave_multicast_v4(const IpAddr& group, const IpAddr& interface) {
  change_v4(fd(), Membership::leave, group, interface);
}
void UdpSocket::join_multicast_v6(const IpAddr& group, std::uint32_t interface) {
  change_v6(fd(), Membership::join, group, interface);
}
void UdpSocket::leave_multicast_v6(const IpAddr& group, std::uint32_t interface) {
  change_v6(fd(), Membership::leave, group, interface);
}
void UdpSocket::set_multicast_loop(bool on) { change_option(fd(), loop_option(fd()), on ? 1 : 0); }
bool UdpSocket::multicast_loop() const { return option_of(fd(), loop_option(fd())) != 0; }
void UdpSocket::set_multicast_ttl(std::uint32_t hops) {
  change_option(fd(), multicast_hops_option(fd()), clamp_to_int(hops));
}
std::uint32_t UdpSocket::multicast_ttl() const {
  return static_cast<std::uint32_t>(option_of(fd(), multicast_hops_option(fd())));
}
void UdpSocket::set_multicast_interface_v4(const IpAddr& interface) {
  require(interface.is_ipv4());
  sys::set_multicast_interface_v4(fd(), interface.bytes()).value();
}
void UdpSocket::set_multicast_interface_v6(std::uint32_t interface) {
  change_option(fd(), SocketOption::multicast_interface_v6, clamp_to_int(interface));
}

UdpBuilder& UdpBuilder::reuseaddr(bool on) noexcept {
  reuseaddr_ = on;
  return *this;
}
UdpBuilder& UdpBuilder::reuseport(bool on) noexcept {
  reuseport_ = on;
  return *this;
}
UdpBuilder& UdpBuilder::only_v6(bool on) noexcept {
  only_v6_ = on;
  return *this;
}

Result<UdpSocket> UdpBuilder::bind_to(const SocketAddr& address) const noexcept {
  if (!address.is_ip()) return std::errc::address_family_not_supported;
  Result<io::OwnedFd> fd = sys::open_socket(native_family(address), sys::SocketKind::datagram);
  if (!fd) return fd.error();
  const auto turn_on = [&](SocketOption option) { return sys::set_option(fd->get(), option, 1); };
  Result<void> step;
  if (reuseaddr_) step = turn_on(SocketOption::reuse_address);
  if (step && reuseport_) step = turn_on(SocketOption::reuse_port);
  if (step && only_v6_ && address.is_ipv6()) step = turn_on(SocketOption::only_v6);
  if (step) step = sys::bind(fd->get(), to_native(address));
  if (!step) return step.error();
  return UdpSocket::from_fd(*std::move(fd));
}

AsyncResult<UdpSocket> UdpBuilder::bind(Endpoint endpoint) const {
  return bind_with(*this, std::move(endpoint));
}

AsyncResult<UdpSocket> UdpBuilder::bind_with(UdpBuilder options, Endpoint endpoint) {
  const std::vector<SocketAddr> addresses = co_await lookup_host(std::move(endpoint));
  std::error_code first;
  for (const SocketAddr& address : addresses) {
    Result<UdpSocket> socket = options.bind_to(address);
    if (socket) co_return socket;
    if (!first) first = socket.error();
  }
  co_return first;
}

}  // namespace rouse::net
