// Read: some bytes from an AsyncRead. ReadMembers: the reading functions that every reader has as
// members.
#pragma once

#include <cstddef>
#include <span>

#include "rouse/base/attributes.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/io/async_read.hpp"

namespace rouse::io {

/// Completes with how many bytes were read, at least one; 0: the end of the stream. Dropped midway,
/// nothing is lost: no byte was read. Errors: the reader's.
template <class R>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Read
    : public Fallible<Read<R>, std::size_t> {
 public:
  Read(R& reader, BufferMut buf) noexcept : reader_(reader), buf_(buf) {}

  Poll<Result<std::size_t>> poll_result(Context& cx) { return reader_.poll_read(cx, buf_); }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  R& reader_;
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

 private:
  friend Self;
  ReadMembers() noexcept = default;
  Self& self() noexcept { return static_cast<Self&>(*this); }
};

}  // namespace rouse::io
