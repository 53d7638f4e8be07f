// copy: copies all bytes of a reader to a writer. copy_buf: the same from a buffered reader,
// without a buffer of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_buf_read.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/error.hpp"

namespace rouse::internal {

/// The progress of a copy. When there is nothing to read for now, written bytes are flushed: the
/// peer may need them before it sends more.
class Copying {
 public:
  /// Ready with the number of bytes, when the reader is at end of file and the writer is flushed.
  template <class R, class W>
  Poll<Result<std::uint64_t>> poll(Context& cx, R& reader, W& writer) {
    if (!buf_) buf_ = internal::Box<std::byte[]>(new std::byte[size]);
    for (;;) {
      if (begin_ == end_ && !ended_) {
        const Poll<Result<void>> polled = poll_fill(cx, reader);
        if (polled.is_pending()) return poll_idle(cx, writer);
        if (!polled.value()) return Poll<Result<std::uint64_t>>::ready(polled.value().error());
      }
      if (begin_ == end_) return poll_end(cx, writer);
      const Poll<Result<void>> polled = poll_empty(cx, writer);
      if (polled.is_pending()) return pending;
      if (!polled.value()) return Poll<Result<std::uint64_t>>::ready(polled.value().error());
    }
  }

 private:
  static constexpr std::size_t size = std::size_t{16} * 1024;

  template <class R>
  Poll<Result<void>> poll_fill(Context& cx, R& reader) {
    const Poll<Result<std::size_t>> polled = reader.poll_read(cx, std::span(buf_.get(), size));
    if (polled.is_pending()) return pending;
    const Result<std::size_t>& n = polled.value();
    if (!n) return Poll<Result<void>>::ready(n.error());
    ROUSE_ASSERT(*n <= size, "poll_read says it read more than the buffer holds");
    ended_ = *n == 0;
    begin_ = 0;
    end_ = *n;
    return Poll<Result<void>>::ready(Result<void>());
  }
  template <class W>
  Poll<Result<void>> poll_empty(Context& cx, W& writer) {
    while (begin_ < end_) {
      const Poll<Result<std::size_t>> polled =
          writer.poll_write(cx, std::span<const std::byte>(buf_.get() + begin_, end_ - begin_));
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return Poll<Result<void>>::ready(n.error());
      if (*n == 0) return Poll<Result<void>>::ready(io::Error::write_zero);
      ROUSE_ASSERT(*n <= end_ - begin_, "poll_write says it took more than there was");
      begin_ += *n;
      copied_ += *n;
      flushed_ = false;
    }
    return Poll<Result<void>>::ready(Result<void>());
  }
  template <class W>
  Poll<Result<std::uint64_t>> poll_idle(Context& cx, W& writer) {
    if (flushed_) return pending;
    const Poll<Result<void>> polled = writer.poll_flush(cx);
    if (polled.is_pending()) return pending;
    if (!polled.value()) return Poll<Result<std::uint64_t>>::ready(polled.value().error());
    flushed_ = true;
    return pending;
  }
  template <class W>
  Poll<Result<std::uint64_t>> poll_end(Context& cx, W& writer) {
    const Poll<Result<void>> polled = writer.poll_flush(cx);
    if (polled.is_pending()) return pending;
    if (!polled.value()) return Poll<Result<std::uint64_t>>::ready(polled.value().error());
    return Poll<Result<std::uint64_t>>::ready(copied_);
  }

  internal::Box<std::byte[]> buf_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t copied_ = 0;
  bool ended_ = false;
  bool flushed_ = true;
};

}  // namespace rouse::internal

namespace rouse::io {

/// Completes at the reader's end of file, with the number of bytes; all were written and flushed.
/// The writer is not shut down.
/// Cancel safety: not safe; bytes that were read and not yet written are lost.
/// Errors: Error::write_zero, the reader's, the writer's.
template <class R, class W>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Copy
    : public ResultFuture<Copy<R, W>, std::uint64_t> {
 public:
  Copy(R& reader, W& writer) noexcept : reader_(&reader), writer_(&writer) {}

  Poll<Result<std::uint64_t>> poll_result(Context& cx) {
    return copying_.poll(cx, *reader_, *writer_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Copy, "copy", any_of, &Copy::reader_, &Copy::writer_)

 private:
  R* reader_;
  W* writer_;
  internal::Copying copying_;
};

template <AsyncRead R, AsyncWrite W>
Copy<R, W> copy(R& reader ROUSE_LIFETIMEBOUND, W& writer ROUSE_LIFETIMEBOUND) {
  return Copy<R, W>(reader, writer);
}

/// As Copy.
/// Cancel safety: dropping it loses nothing: unwritten bytes are still in the reader.
template <class R, class W>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] CopyBuf
    : public ResultFuture<CopyBuf<R, W>, std::uint64_t> {
 public:
  CopyBuf(R& reader, W& writer) noexcept : reader_(&reader), writer_(&writer) {}

  Poll<Result<std::uint64_t>> poll_result(Context& cx) {
    using Polled = Poll<Result<std::uint64_t>>;
    for (;;) {
      const Poll<Result<std::span<const std::byte>>> got = reader_->poll_fill_buf(cx);
      if (got.is_pending() && flushed_) return pending;
      if (got.is_ready() && !got.value()) return Polled::ready(got.value().error());
      if (got.is_pending() || got.value()->empty()) {
        const Poll<Result<void>> polled = writer_->poll_flush(cx);
        if (polled.is_pending()) return pending;
        if (!polled.value()) return Polled::ready(polled.value().error());
        flushed_ = true;
        if (got.is_pending()) return pending;
        return Polled::ready(copied_);
      }
      const Poll<Result<std::size_t>> polled = writer_->poll_write(cx, *got.value());
      if (polled.is_pending()) return pending;
      if (!polled.value()) return Polled::ready(polled.value().error());
      if (*polled.value() == 0) return Polled::ready(Error::write_zero);
      reader_->consume(*polled.value());
      copied_ += *polled.value();
      flushed_ = false;
    }
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(CopyBuf, "copy", any_of, &CopyBuf::reader_, &CopyBuf::writer_)

 private:
  R* reader_;
  W* writer_;
  std::uint64_t copied_ = 0;
  bool flushed_ = true;
};

template <AsyncBufRead R, AsyncWrite W>
CopyBuf<R, W> copy_buf(R& reader ROUSE_LIFETIMEBOUND, W& writer ROUSE_LIFETIMEBOUND) {
  return CopyBuf<R, W>(reader, writer);
}

}  // namespace rouse::io
