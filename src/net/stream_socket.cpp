#include "rouse/net/stream_socket.hpp"

#include <functional>
#include <numeric>

#include "rouse/io/internal/poll_when_ready.hpp"

#include "io/io_source.hpp"
#include "net/native_address.hpp"
#include "net/socket.hpp"
#include "sys/socket.hpp"

namespace rouse::net {

using namespace internal;
namespace {

using io::Interest;
using Transferred = Poll<Result<std::size_t>>;

template <class B>
std::size_t total(std::span<const B> bufs) noexcept {
  return std::transform_reduce(bufs.begin(), bufs.end(), std::size_t{0}, std::plus<>(),
                               [](const B& buf) { return buf.size(); });
}

}  // namespace

/// Tries the call, and waits only after EAGAIN. A short read or write means that the stream would
/// block now: this saves the call that would return EAGAIN.
template <class Fn>
Transferred StreamSocket::poll_transfer(Context& cx, Interest direction, std::size_t wanted,
                                        Fn fn) {
  IoSource& source = io_.source();
  const auto transfer = [&](const Result<io::Ready>& seen) -> Transferred {
    if (!seen) [[unlikely]]
      return Transferred::ready(Result<std::size_t>(seen.error()));
    if (!cx.take_budget()) return pending;
    Result<std::size_t> result = fn();
    if (result && *result < wanted && *result != 0) source.clear_drained(*seen, direction);
    return Transferred::ready(result);
  };
  return internal::poll_when_ready([&] { return source.poll_seen(direction, cx); }, transfer,
                                   [&](io::Ready seen) { source.clear_blocked(seen, direction); });
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
  // The peer is gone: ignore it.
  if (!result && result.error() == std::errc::not_connected) result = {};
  return done(result);
}

Result<std::size_t> StreamSocket::try_read(io::BufferMut buf) {
  return io_.try_io(Interest::readable, [&] { return sys::receive(io_.fd(), buf); });
}
Result<std::size_t> StreamSocket::try_write(io::Buffer data) {
  return io_.try_io(Interest::writable, [&] { return sys::send(io_.fd(), data); });
}

}  // namespace rouse::net
