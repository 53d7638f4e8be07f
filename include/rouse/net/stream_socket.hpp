// StreamSocket: what TCP and Unix streams have in common: bytes in both directions, each with an
// end of its own.
//
// One task reads and one writes at a time; they may be different ones, on different threads (see
// `split`). Reading after the other side's end gives 0. Writing to a side that is gone is the error
// std::errc::broken_pipe (or connection_reset), never a signal.
#pragma once

#include <cstddef>
#include <span>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/net/socket_addr.hpp"

namespace rouse::net {

class Peek;

class ROUSE_API StreamSocket {
 public:
  // AsyncRead, AsyncWrite: read, write and so on are members made of these.
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf);
  Poll<Result<std::size_t>> poll_readv(Context& cx, std::span<const io::BufferMut> bufs);
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data);
  Poll<Result<std::size_t>> poll_writev(Context& cx, std::span<const io::Buffer> bufs);
  Poll<Result<void>> poll_flush(Context&) noexcept { return done({}); }
  Poll<Result<void>> poll_shutdown(Context&) noexcept;
  Poll<Result<std::size_t>> poll_peek(Context& cx, std::span<std::byte> buf);

  /// Some of what can be read, which stays there. Completes with how many bytes, 0 at the end.
  /// Dropped midway, nothing is lost.
  Peek peek(io::BufferMut buf) ROUSE_LIFETIMEBOUND;
  /// Without waiting; errors: operation_would_block, and those of `read` and `write`.
  Result<std::size_t> try_read(io::BufferMut buf);
  Result<std::size_t> try_write(io::Buffer data);
  /// See io::AsyncFd: any number of tasks may wait.
  io::Readiness readable() const noexcept ROUSE_LIFETIMEBOUND { return io_.readable(); }
  io::Readiness writable() const noexcept ROUSE_LIFETIMEBOUND { return io_.writable(); }

  /// These throw std::system_error, e.g. std::errc::not_connected when the other side is gone.
  [[nodiscard]] SocketAddr local_addr() const;
  [[nodiscard]] SocketAddr peer_addr() const;
  /// Takes the error that the system keeps for this socket, if there is one.
  Result<void> take_error() noexcept;
  [[nodiscard]] int fd() const noexcept { return io_.fd(); }

 protected:
  /// Whether a read that gives less than was wanted has given all: not so if the system stops at
  /// a mark, as Unix sockets do at descriptors that were sent along.
  enum class ShortRead : bool { is_all, may_hide_more };
  StreamSocket(io::AsyncFd io, ShortRead short_read) noexcept
      : io_(std::move(io)), short_read_(short_read) {}
  StreamSocket(StreamSocket&&) noexcept = default;
  StreamSocket& operator=(StreamSocket&&) noexcept = default;
  ~StreamSocket() = default;

  io::AsyncFd io_;

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
    : public Fallible<Peek, std::size_t> {
 public:
  Peek(StreamSocket& socket, io::BufferMut buf) noexcept : socket_(socket), buf_(buf) {}
  Poll<Result<std::size_t>> poll_result(Context& cx) { return socket_.poll_peek(cx, buf_); }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  StreamSocket& socket_;
  io::BufferMut buf_;
};

inline Peek StreamSocket::peek(io::BufferMut buf) { return Peek(*this, buf); }

}  // namespace rouse::net
