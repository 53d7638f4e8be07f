// Writev, WriteAllVectored: several buffers to an AsyncWrite, one after another: a head and a body
// that need not be copied together.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/error.hpp"

namespace rouse::io {

/// poll_writev of any writer: one that has none writes of the first buffer that is not empty.
template <class W>
Poll<Result<std::size_t>> poll_writev(W& writer, Context& cx, std::span<const Buffer> bufs) {
  if constexpr (AsyncWriteVectored<W>) {
    return writer.poll_writev(cx, bufs);
  } else {
    for (const Buffer& buf : bufs) {
      if (!buf.empty()) return writer.poll_write(cx, buf);
    }
    return writer.poll_write(cx, {});
  }
}

/// Completes with how many bytes were accepted, at least one unless there were none. Borrows the
/// list of buffers, too.
/// Cancel safety: if dropped midway, nothing was written.
/// Errors: the writer's.
template <class W>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Writev
    : public ResultFuture<Writev<W>, std::size_t> {
 public:
  Writev(W& writer, std::span<const Buffer> bufs) noexcept : writer_(&writer), bufs_(bufs) {}

  Poll<Result<std::size_t>> poll_result(Context& cx) { return poll_writev(*writer_, cx, bufs_); }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Writev, "writev", one, &Writev::writer_)

 private:
  W* writer_;
  std::span<const Buffer> bufs_;
};

template <AsyncWrite W>
Writev<W> writev(W& writer ROUSE_LIFETIMEBOUND, std::span<const Buffer> bufs) {
  return Writev<W>(writer, bufs);
}

/// Completes when the writer has accepted all bytes of all buffers. Borrows the list of buffers,
/// too.
/// Cancel safety: not safe; the first `written()` bytes were written, the others were not.
/// Errors: Error::write_zero if the writer accepts no more; the writer's.
template <class W>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] WriteAllVectored
    : public ResultFuture<WriteAllVectored<W>, void> {
 public:
  WriteAllVectored(W& writer, std::span<const Buffer> bufs) noexcept
      : writer_(&writer), rest_(bufs) {}

  Poll<Result<void>> poll_result(Context& cx) {
    for (skip_written(0); !rest_.empty();) {
      std::array<Buffer, at_once> window;
      const std::span<const Buffer> now = fill(window);
      const Poll<Result<std::size_t>> polled = poll_writev(*writer_, cx, now);
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return Poll<Result<void>>::ready(n.error());
      if (*n == 0) return Poll<Result<void>>::ready(Error::write_zero);
      written_ += *n;
      skip_written(*n);
    }
    return Poll<Result<void>>::ready(Result<void>());
  }
  /// How many bytes were written so far.
  [[nodiscard]] std::size_t written() const noexcept { return written_; }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(WriteAllVectored, "write_all_vectored", one, &WriteAllVectored::writer_)

 private:
  static constexpr std::size_t at_once = 16;

  /// The caller's list stays unchanged: the rest of its first buffer is created here.
  std::span<const Buffer> fill(std::array<Buffer, at_once>& window) const noexcept {
    const std::size_t count = rest_.size() < at_once ? rest_.size() : at_once;
    window[0] = Buffer(rest_[0].data() + into_first_, rest_[0].size() - into_first_);
    for (std::size_t i = 1; i < count; ++i) window[i] = rest_[i];
    return std::span<const Buffer>(window).first(count);
  }
  /// Also skips empty buffers, so that the rest begins with a byte.
  void skip_written(std::size_t n) noexcept {
    into_first_ += n;
    while (!rest_.empty() && into_first_ >= rest_[0].size()) {
      into_first_ -= rest_[0].size();
      rest_ = rest_.subspan(1);
    }
    ROUSE_ASSERT(!rest_.empty() || into_first_ == 0, "poll_writev took more than there was");
  }

  W* writer_;
  std::span<const Buffer> rest_;
  std::size_t into_first_ = 0;
  std::size_t written_ = 0;
};

template <AsyncWrite W>
WriteAllVectored<W> write_all_vectored(W& writer ROUSE_LIFETIMEBOUND,
                                       std::span<const Buffer> bufs) {
  return WriteAllVectored<W>(writer, bufs);
}

}  // namespace rouse::io
