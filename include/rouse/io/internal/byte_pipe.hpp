// BytePipe: a ring of bytes between one writer and one reader, on any two threads. simplex and
// duplex are made of it.
//
// Bytes [read_, written_) are in the ring; the counts only grow. Only the writing side changes
// `written_` and the bytes outside of that range, only the reading side changes `read_`. Whoever
// waits registers first and then looks again, whoever changes something wakes afterwards: one of
// the two sees the other (core/atomic_waker.hpp).
#pragma once

#include <cstddef>
#include <span>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"

namespace rouse::internal {

class ROUSE_API BytePipe : public RefCounted<BytePipe> {
 public:
  explicit BytePipe(std::size_t capacity);

  /// See AsyncRead. 0 when the writing side has ended and everything was read.
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf);
  /// See AsyncWrite. std::errc::broken_pipe once one of the sides has ended.
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data);

  /// Nothing will be written any more: the reader reads end of file.
  void end_writing() noexcept;
  /// Nothing will be read any more: writing fails.
  void end_reading() noexcept;

 private:
  std::size_t take(std::span<std::byte> buf) noexcept;
  std::size_t put(std::span<const std::byte> data) noexcept;
  [[nodiscard]] bool is_broken() const noexcept;

  const std::size_t capacity_;
  const internal::Box<std::byte[]> ring_;
  atomic<std::size_t> written_{0};
  atomic<std::size_t> read_{0};
  atomic<bool> writing_ended_{false};
  atomic<bool> reading_ended_{false};
  AtomicWaker reader_;
  AtomicWaker writer_;
};

}  // namespace rouse::internal
