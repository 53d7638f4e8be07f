// Readv: some bytes from an AsyncRead into several buffers, filled one after another.
#pragma once

#include <cstddef>
#include <span>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_read.hpp"

namespace rouse::io {

/// poll_readv of any reader: one that has none reads into the first buffer that is not empty.
template <class R>
Poll<Result<std::size_t>> poll_readv(R& reader, Context& cx, std::span<const BufferMut> bufs) {
  if constexpr (AsyncReadVectored<R>) {
    return reader.poll_readv(cx, bufs);
  } else {
    for (const BufferMut& buf : bufs) {
      if (!buf.empty()) return reader.poll_read(cx, buf);
    }
    return reader.poll_read(cx, {});
  }
}

/// Completes with how many bytes were read, at least one; 0 means end of file, or no room. Borrows
/// the list of buffers, too.
/// Cancel safety: dropping it loses nothing: no byte was read.
/// Errors: the reader's.
template <class R>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Readv
    : public ResultFuture<Readv<R>, std::size_t> {
 public:
  Readv(R& reader, std::span<const BufferMut> bufs) noexcept : reader_(&reader), bufs_(bufs) {}

  Poll<Result<std::size_t>> poll_result(Context& cx) { return poll_readv(*reader_, cx, bufs_); }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Readv, "readv", one, &Readv::reader_)

 private:
  R* reader_;
  std::span<const BufferMut> bufs_;
};

template <AsyncRead R>
Readv<R> readv(R& reader ROUSE_LIFETIMEBOUND, std::span<const BufferMut> bufs) {
  return Readv<R>(reader, bufs);
}

}  // namespace rouse::io
