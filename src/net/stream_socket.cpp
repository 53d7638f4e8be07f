#include "rouse/net/stream_socket.hpp"

#include <functional>
#include <numeric>

#include "rouse/io/error.hpp"

#include "io/io_source.hpp"
#include "net/native_address.hpp"
#include "net/socket.hpp"
#include "sys/socket.hpp"

namespace rouse::net {
namespace {

using io::Interest;
using Transferred = Poll<Result<std::size_t>>;

template <class B>
std::size_t total(std::span<const B> bufs) noexcept {
  return std::transform_reduce(bufs.begin(), bufs.end(), std::size_t{0}, std::plus<>(),
                               [](const B& buf) { return buf.size(); });
}

}  // namespace

/// Tries, and waits only if the system says so. A stream that gave or took less than was wanted has
/// no more for now: knowing that spares the call that would be told to wait.
template <class Fn>
Transferred StreamSocket::poll_transfer(Context& cx, Interest direction, std::size_t wanted,
                                        Fn fn) {
  io::IoSource& source = io_.source();
  for (;;) {
    io::Ready seen;
    if (!source.poll_ready(direction, cx, seen)) return pending;
    if (!seen.is(direction)) [[unlikely]]
      return Transferred::ready(Result<std::size_t>(io::make_error_code(io::Error::runtime_ended)));
    if (!cx.take_budget()) return pending;
    Result<std::size_t> result = fn();
    if (result) {
      if (*result < wanted && *result != 0) source.clear_drained(seen, direction);
      return Transferred::ready(result);
    }
    if (!io::would_block(result.error())) return Transferred::ready(result);
    source.clear_blocked(seen, direction);
  }
}

Transferred StreamSocket::poll_read(Context& cx, std::span<std::byte> buf) {
  return poll_transfer(cx, Interest::readable, to_drain(buf.size()),
                       [&] { return sys::receive(io_.fd(), buf); });
}
Transferred StreamSocket::poll_readv(Context& cx, std::span<const io::BufferMut> bufs) {
  // Buffers that the system is not given stay empty: then less than all says nothing.
  const std::size_t wanted = bufs.size() <= sys::max_buffers ? to_drain(total(bufs)) : 0;
  return poll_transfer(cx, Interest::readable, wanted,
                       [&] { return sys::receivev(io_.fd(), bufs); });
}
Transferred StreamSocket::poll_write(Context& cx, std::span<const std::byte> data) {
  return poll_transfer(cx, Interest::writable, data.size(),
                       [&] { return sys::send(io_.fd(), data); });
}
Transferred StreamSocket::poll_writev(Context& cx, std::span<const io::Buffer> bufs) {
  return poll_transfer(cx, Interest::writable, 0, [&] { return sys::sendv(io_.fd(), bufs); });
}
Transferred StreamSocket::poll_peek(Context& cx, std::span<std::byte> buf) {
  return poll_transfer(cx, Interest::readable, 0, [&] { return sys::peek(io_.fd(), buf); });
}

Poll<Result<void>> StreamSocket::poll_shutdown(Context&) noexcept {
  Result<void> result = sys::shutdown_write(io_.fd());
  // The other side is gone: there is nobody left to be told.
  if (!result && result.error() == std::errc::not_connected) result = {};
  return done(result);
}

Result<std::size_t> StreamSocket::try_read(io::BufferMut buf) {
  return io_.try_io(Interest::readable, [&] { return sys::receive(io_.fd(), buf); });
}
Result<std::size_t> StreamSocket::try_write(io::Buffer data) {
  return io_.try_io(Interest::writable, [&] { return sys::send(io_.fd(), data); });
}

SocketAddr StreamSocket::local_addr() const { return local_address(io_.fd()); }
SocketAddr StreamSocket::peer_addr() const {
  return from_native(sys::peer_address(io_.fd()).value()).value();
}
Result<void> StreamSocket::take_error() noexcept { return sys::take_error(io_.fd()); }

}  // namespace rouse::net
