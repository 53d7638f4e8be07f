// Read: some bytes from an AsyncRead. ReadMembers: the reading functions, as members of every
// reader.
#pragma once

#include <cstddef>
#include <span>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/byte_container.hpp"
#include "rouse/io/read_exact.hpp"
#include "rouse/io/read_to_end.hpp"
#include "rouse/io/readv.hpp"

namespace rouse::io {

/// Completes with how many bytes were read, at least one; 0 means end of file.
/// Cancel safety: dropping it loses nothing: no byte was read.
/// Errors: the reader's.
template <class R>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Read
    : public ResultFuture<Read<R>, std::size_t> {
 public:
  Read(R& reader, BufferMut buf) noexcept : reader_(&reader), buf_(buf) {}

  Poll<Result<std::size_t>> poll_result(Context& cx) { return reader_->poll_read(cx, buf_); }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Read, "read", one, &Read::reader_)

 private:
  R* reader_;
  BufferMut buf_;
};

template <AsyncRead R>
Read<R> read(R& reader ROUSE_LIFETIMEBOUND, BufferMut buf) {
  return Read<R>(reader, buf);
}

/// Base of a reader: `class TcpStream : public io::ReadMembers<TcpStream>`.
template <class Self>
class ReadMembers {
 public:
  /// See io::Read.
  Read<Self> read(BufferMut buf) ROUSE_LIFETIMEBOUND { return Read<Self>(self(), buf); }
  /// See io::Readv.
  Readv<Self> readv(std::span<const BufferMut> bufs) ROUSE_LIFETIMEBOUND {
    return Readv<Self>(self(), bufs);
  }
  /// See io::ReadExact.
  ReadExact<Self> read_exact(BufferMut buf) ROUSE_LIFETIMEBOUND {
    return ReadExact<Self>(self(), buf);
  }
  /// See io::ReadToEnd.
  template <ByteContainer C>
  ReadToEnd<Self, C> read_to_end(C& out ROUSE_LIFETIMEBOUND,
                                 std::size_t limit = default_read_limit) ROUSE_LIFETIMEBOUND {
    return ReadToEnd<Self, C>(self(), out, limit);
  }
  /// See io::ReadToString.
  ReadToString<Self> read_to_string(std::size_t limit = default_read_limit) ROUSE_LIFETIMEBOUND {
    return ReadToString<Self>(self(), limit);
  }

 private:
  friend Self;
  ReadMembers() noexcept = default;
  Self& self() noexcept { return static_cast<Self&>(*this); }
};

}  // namespace rouse::io
