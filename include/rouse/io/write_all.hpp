// WriteAll: all of a buffer to an AsyncWrite.
#pragma once

#include <cstddef>
#include <span>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/error.hpp"

namespace rouse::io {

/// Completes when the writer has accepted all bytes; it may still have them in a buffer (see
/// flush).
/// Cancel safety: not safe; the first `written()` bytes were written, the others were not.
/// Errors: Error::write_zero if the writer accepts no more; the writer's.
template <class W>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] WriteAll
    : public ResultFuture<WriteAll<W>, void> {
 public:
  WriteAll(W& writer, Buffer data) noexcept : writer_(&writer), data_(data) {}

  Poll<Result<void>> poll_result(Context& cx) {
    while (written_ < data_.size()) {
      const std::span<const std::byte> rest(data_.data() + written_, data_.size() - written_);
      const Poll<Result<std::size_t>> polled = writer_->poll_write(cx, rest);
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return Poll<Result<void>>::ready(n.error());
      if (*n == 0) return Poll<Result<void>>::ready(Error::write_zero);
      ROUSE_ASSERT(*n <= rest.size(), "poll_write says it took more than there was");
      written_ += *n;
    }
    return Poll<Result<void>>::ready(Result<void>());
  }
  /// How many bytes were written so far.
  [[nodiscard]] std::size_t written() const noexcept { return written_; }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(WriteAll, "write_all", one, &WriteAll::writer_)

 private:
  W* writer_;
  Buffer data_;
  std::size_t written_ = 0;
};

template <AsyncWrite W>
WriteAll<W> write_all(W& writer ROUSE_LIFETIMEBOUND, Buffer data) {
  return WriteAll<W>(writer, data);
}

}  // namespace rouse::io
