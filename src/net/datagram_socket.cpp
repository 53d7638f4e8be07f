#include "rouse/net/datagram_socket.hpp"

#include <algorithm>

#include "net/native_address.hpp"
#include "net/poll_send.hpp"
#include "net/socket.hpp"
#include "sys/datagram.hpp"
#include "sys/socket.hpp"

namespace rouse::net {

using namespace internal;

using io::Interest;
using sys::SocketOption;

namespace {

Result<Received> receive_once(int fd, std::span<std::byte> buf, sys::Take take) noexcept {
  sys::NativeAddress native;
  const Result<std::size_t> size = sys::receive_from(fd, buf, native, take);
  if (!size) return size.error();
  const Result<SocketAddr> from = from_native(native);
  if (!from) return from.error();
  return Received(std::min(*size, buf.size()), *from, *size);
}

Result<std::size_t> or_would_block(Result<std::size_t> sent) noexcept {
  if (!sent && sys::is_without_buffers(sent.error())) return std::errc::operation_would_block;
  return sent;
}

}  // namespace

internal::RoomIs DatagramSocket::room() const noexcept {
  return family_ == Family::ip ? internal::RoomIs::told : internal::RoomIs::not_always_told;
}

Result<std::size_t> DatagramSocket::send_once(std::span<const std::byte> data,
                                              const SocketAddr& to) noexcept {
  if (to.is_unix() != (family_ == Family::unix_domain)) {
    return std::errc::address_family_not_supported;
  }
  return sys::send_to(fd(), data, to_native(to));
}

Poll<Result<std::size_t>> DatagramSocket::poll_send(Context& cx, internal::SendWait& wait,
                                                    std::span<const std::byte> data) {
  return net::poll_send(io_, cx, wait, room(), [&] { return sys::send(fd(), data); });
}
Poll<Result<std::size_t>> DatagramSocket::poll_send_to(Context& cx, internal::SendWait& wait,
                                                       std::span<const std::byte> data,
                                                       const SocketAddr& to) {
  return net::poll_send(io_, cx, wait, room(), [&] { return send_once(data, to); });
}
Poll<Result<std::size_t>> DatagramSocket::poll_recv(Context& cx, ReadinessWaiter& waiter,
                                                    std::span<std::byte> buf) {
  return io_.poll_io(cx, Interest::readable, waiter, [&] { return sys::receive(fd(), buf); });
}
Poll<Result<Received>> DatagramSocket::poll_recv_from(Context& cx, ReadinessWaiter& waiter,
                                                      std::span<std::byte> buf) {
  return io_.poll_io(cx, Interest::readable, waiter,
                     [&] { return receive_once(fd(), buf, sys::Take::away); });
}
Poll<Result<Received>> DatagramSocket::poll_peek_from(Context& cx, ReadinessWaiter& waiter,
                                                      std::span<std::byte> buf) {
  return io_.poll_io(cx, Interest::readable, waiter,
                     [&] { return receive_once(fd(), buf, sys::Take::peek); });
}

Result<std::size_t> DatagramSocket::try_send(io::Buffer data) noexcept {
  return or_would_block(sys::send(fd(), data));
}
Result<std::size_t> DatagramSocket::try_send_to(io::Buffer data, const SocketAddr& to) noexcept {
  return or_would_block(send_once(data, to));
}
Result<std::size_t> DatagramSocket::try_recv(io::BufferMut buf) noexcept {
  return io_.try_io(Interest::readable, [&] { return sys::receive(fd(), buf); });
}
Result<Received> DatagramSocket::try_recv_from(io::BufferMut buf) noexcept {
  return io_.try_io(Interest::readable, [&] { return receive_once(fd(), buf, sys::Take::away); });
}
Result<Received> DatagramSocket::try_peek_from(io::BufferMut buf) noexcept {
  return io_.try_io(Interest::readable, [&] { return receive_once(fd(), buf, sys::Take::peek); });
}

void DatagramSocket::set_send_buffer_size(std::size_t bytes) {
  change_option(fd(), SocketOption::send_buffer, clamp_to_int(bytes));
}
std::size_t DatagramSocket::send_buffer_size() const {
  return static_cast<std::size_t>(option_of(fd(), SocketOption::send_buffer));
}
void DatagramSocket::set_recv_buffer_size(std::size_t bytes) {
  change_option(fd(), SocketOption::receive_buffer, clamp_to_int(bytes));
}
std::size_t DatagramSocket::recv_buffer_size() const {
  return static_cast<std::size_t>(option_of(fd(), SocketOption::receive_buffer));
}

}  // namespace rouse::net
