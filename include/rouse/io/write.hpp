// Write: some bytes to an AsyncWrite. WriteMembers: the writing functions, as members of every
// writer.
#pragma once

#include <cstddef>
#include <span>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/flush.hpp"
#include "rouse/io/write_all.hpp"
#include "rouse/io/writev.hpp"

namespace rouse::io {

/// Completes with how many bytes were accepted, at least one unless there were none.
/// Cancel safety: if dropped midway, nothing was written.
/// Errors: the writer's.
template <class W>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Write
    : public ResultFuture<Write<W>, std::size_t> {
 public:
  Write(W& writer, Buffer data) noexcept : writer_(&writer), data_(data) {}

  Poll<Result<std::size_t>> poll_result(Context& cx) { return writer_->poll_write(cx, data_); }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Write, "write", one, &Write::writer_)

 private:
  W* writer_;
  Buffer data_;
};

template <AsyncWrite W>
Write<W> write(W& writer ROUSE_LIFETIMEBOUND, Buffer data) {
  return Write<W>(writer, data);
}

/// Base of a writer: `class TcpStream : public io::WriteMembers<TcpStream>`.
template <class Self>
class WriteMembers {
 public:
  /// See io::Write.
  Write<Self> write(Buffer data) ROUSE_LIFETIMEBOUND { return Write<Self>(self(), data); }
  /// See io::Writev.
  Writev<Self> writev(std::span<const Buffer> bufs) ROUSE_LIFETIMEBOUND {
    return Writev<Self>(self(), bufs);
  }
  /// See io::WriteAll.
  WriteAll<Self> write_all(Buffer data) ROUSE_LIFETIMEBOUND { return WriteAll<Self>(self(), data); }
  /// See io::WriteAllVectored.
  WriteAllVectored<Self> write_all_vectored(std::span<const Buffer> bufs) ROUSE_LIFETIMEBOUND {
    return WriteAllVectored<Self>(self(), bufs);
  }
  /// See io::Flush.
  Flush<Self> flush() ROUSE_LIFETIMEBOUND { return Flush<Self>(self()); }
  /// See io::Shutdown.
  Shutdown<Self> shutdown() ROUSE_LIFETIMEBOUND { return Shutdown<Self>(self()); }

 private:
  friend Self;
  WriteMembers() noexcept = default;
  Self& self() noexcept { return static_cast<Self&>(*this); }
};

}  // namespace rouse::io
