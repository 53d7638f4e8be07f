// Flush, Shutdown: what was written goes out; the stream is ended.
#pragma once

#include "rouse/base/attributes.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/io/async_write.hpp"

namespace rouse::io {

/// Completes when all that was written has left the writer's own buffers. Dropped midway, nothing
/// is lost: the rest stays in the buffers. Errors: the writer's.
template <class W>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Flush
    : public Fallible<Flush<W>, void> {
 public:
  explicit Flush(W& writer) noexcept : writer_(writer) {}

  Poll<Result<void>> poll_result(Context& cx) { return writer_.poll_flush(cx); }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  W& writer_;
};

template <AsyncWrite W>
Flush<W> flush(W& writer ROUSE_LIFETIMEBOUND) {
  return Flush<W>(writer);
}

/// Flushes, then ends the stream: the other side reads its end. Nothing may be written after.
/// Dropped midway, nothing is lost: call it again. Errors: the writer's.
template <class W>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Shutdown
    : public Fallible<Shutdown<W>, void> {
 public:
  explicit Shutdown(W& writer) noexcept : writer_(writer) {}

  Poll<Result<void>> poll_result(Context& cx) { return writer_.poll_shutdown(cx); }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  W& writer_;
};

template <AsyncWrite W>
Shutdown<W> shutdown(W& writer ROUSE_LIFETIMEBOUND) {
  return Shutdown<W>(writer);
}

}  // namespace rouse::io
