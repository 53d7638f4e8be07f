// Flush, Shutdown: empties a writer's buffers; closes its writing side.
#pragma once

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_write.hpp"

namespace rouse::io {

/// Completes when all written bytes have left the writer's own buffers.
/// Cancel safety: dropping it loses nothing: the rest stays in the buffers.
/// Errors: the writer's.
template <class W>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Flush
    : public ResultFuture<Flush<W>, void> {
 public:
  explicit Flush(W& writer) noexcept : writer_(&writer) {}

  Poll<Result<void>> poll_result(Context& cx) { return writer_->poll_flush(cx); }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Flush, "flush", one, &Flush::writer_)

 private:
  W* writer_;
};

template <AsyncWrite W>
Flush<W> flush(W& writer ROUSE_LIFETIMEBOUND) {
  return Flush<W>(writer);
}

/// Flushes, then closes the writing side: the peer reads end of file. Nothing may be written after.
/// Cancel safety: dropping it loses nothing: call it again.
/// Errors: the writer's.
template <class W>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Shutdown
    : public ResultFuture<Shutdown<W>, void> {
 public:
  explicit Shutdown(W& writer) noexcept : writer_(&writer) {}

  Poll<Result<void>> poll_result(Context& cx) { return writer_->poll_shutdown(cx); }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Shutdown, "shutdown", one, &Shutdown::writer_)

 private:
  W* writer_;
};

template <AsyncWrite W>
Shutdown<W> shutdown(W& writer ROUSE_LIFETIMEBOUND) {
  return Shutdown<W>(writer);
}

}  // namespace rouse::io
