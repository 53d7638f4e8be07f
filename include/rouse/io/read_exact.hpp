// ReadExact: fills a buffer from an AsyncRead.
#pragma once

#include <cstddef>
#include <span>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/error.hpp"

namespace rouse::io {

/// Completes when the buffer is full.
/// Cancel safety: not safe; the bytes read so far are in the buffer and no longer in the reader,
/// and only `filled()` says how many they are.
/// Errors: Error::unexpected_eof at end of file; the reader's.
template <class R>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] ReadExact
    : public ResultFuture<ReadExact<R>, void> {
 public:
  ReadExact(R& reader, BufferMut buf) noexcept : reader_(&reader), buf_(buf) {}

  Poll<Result<void>> poll_result(Context& cx) {
    while (filled_ < buf_.size()) {
      const std::span<std::byte> rest(buf_.data() + filled_, buf_.size() - filled_);
      const Poll<Result<std::size_t>> polled = reader_->poll_read(cx, rest);
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return Poll<Result<void>>::ready(n.error());
      if (*n == 0) return Poll<Result<void>>::ready(Error::unexpected_eof);
      ROUSE_ASSERT(*n <= rest.size(), "poll_read says it read more than the buffer holds");
      filled_ += *n;
    }
    return Poll<Result<void>>::ready(Result<void>());
  }
  /// How many bytes were read so far.
  [[nodiscard]] std::size_t filled() const noexcept { return filled_; }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ReadExact, "read_exact", one, &ReadExact::reader_)

 private:
  R* reader_;
  BufferMut buf_;
  std::size_t filled_ = 0;
};

template <AsyncRead R>
ReadExact<R> read_exact(R& reader ROUSE_LIFETIMEBOUND, BufferMut buf) {
  return ReadExact<R>(reader, buf);
}

}  // namespace rouse::io
