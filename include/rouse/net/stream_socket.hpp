// StreamSocket: what TCP and Unix streams have in common: bytes in both directions, each of which
// ends on its own.
//
// Reading gives 0 at end of file. Writing to a peer that is gone is the error
// std::errc::broken_pipe (or connection_reset), never a signal.
// Threads: one task reads and one writes at a time; they may be different tasks on different
// threads (see `split`).
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/net/socket.hpp"
#include "rouse/net/socket_addr.hpp"

namespace rouse::net {

class Peek;

class ROUSE_API StreamSocket : public Socket {
 public:
  // AsyncRead, AsyncWrite: read, write and so on are members made of these.
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf);
  Poll<Result<std::size_t>> poll_readv(Context& cx, std::span<const io::BufferMut> bufs);
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data);
  Poll<Result<std::size_t>> poll_writev(Context& cx, std::span<const io::Buffer> bufs);
  Poll<Result<void>> poll_flush(Context&) noexcept { return done({}); }
  Poll<Result<void>> poll_shutdown(Context&) noexcept;
  Poll<Result<std::size_t>> poll_peek(Context& cx, std::span<std::byte> buf);

  /// Reads some bytes without consuming them. Completes with how many, 0 at end of file.
  /// Cancel safety: dropping it loses nothing.
  Peek peek(io::BufferMut buf) ROUSE_LIFETIMEBOUND;
  /// Without waiting; errors: operation_would_block, and those of `read` and `write`.
  Result<std::size_t> try_read(io::BufferMut buf);
  /// As try_read.
  Result<std::size_t> try_write(io::Buffer data);

 protected:
  /// Whether a short read has read everything: not if the system stops at a mark, as Unix sockets
  /// do at descriptors that were sent along.
  enum class ShortRead : bool { is_all, may_hide_more };
  StreamSocket(io::AsyncFd io, ShortRead short_read) noexcept
      : Socket(std::move(io)), short_read_(short_read) {}
  StreamSocket(StreamSocket&&) noexcept = default;
  StreamSocket& operator=(StreamSocket&&) noexcept = default;
  ~StreamSocket() = default;

 private:
  static Poll<Result<void>> done(Result<void> result) noexcept {
    return Poll<Result<void>>::ready(result);
  }
  template <class Fn>
  Poll<Result<std::size_t>> poll_transfer(Context& cx, io::Interest direction, std::size_t wanted,
                                          Fn fn);
  [[nodiscard]] std::size_t to_drain(std::size_t wanted) const noexcept {
    return short_read_ == ShortRead::is_all ? wanted : 0;
  }

  ShortRead short_read_;
};

/// See StreamSocket::peek.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Peek
    : public ResultFuture<Peek, std::size_t> {
 public:
  Peek(StreamSocket& socket, io::BufferMut buf) noexcept : socket_(&socket), buf_(buf) {}
  Poll<Result<std::size_t>> poll_result(Context& cx) { return socket_->poll_peek(cx, buf_); }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Peek, "peek", one, &Peek::socket_)

 private:
  StreamSocket* socket_;
  io::BufferMut buf_;
};

inline Peek StreamSocket::peek(io::BufferMut buf) { return Peek(*this, buf); }

}  // namespace rouse::net
