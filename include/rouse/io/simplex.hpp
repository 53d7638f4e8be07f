// simplex(n): a pipe in memory: what is written at one end is read at the other.
//
//   auto [reader, writer] = io::simplex(4096);
//
// At most n bytes are in transit; then the writer waits.
// Threads: the ends may be used on different threads.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/io/internal/byte_pipe.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"

namespace rouse::io {

/// The reading end. Reads 0 when the writer was shut down or dropped and everything was read.
class SimplexReader : public ReadMembers<SimplexReader> {
 public:
  explicit SimplexReader(RefPtr<internal::BytePipe> pipe) noexcept : pipe_(std::move(pipe)) {}
  SimplexReader(SimplexReader&&) noexcept = default;
  SimplexReader& operator=(SimplexReader&& other) noexcept {
    SimplexReader old(std::exchange(pipe_, std::move(other.pipe_)));
    return *this;
  }
  ~SimplexReader() {
    if (pipe_) pipe_->end_reading();
  }

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    ROUSE_ASSERT(pipe_, "read from an end of a pipe that was moved from");
    return pipe_->poll_read(cx, buf);
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(SimplexReader, "pipe", receive, &SimplexReader::pipe_)

 private:
  RefPtr<internal::BytePipe> pipe_;
};

/// The writing end. Writing fails with std::errc::broken_pipe when the reader was dropped, and
/// after a shutdown. There is nothing to flush.
class SimplexWriter : public WriteMembers<SimplexWriter> {
 public:
  explicit SimplexWriter(RefPtr<internal::BytePipe> pipe) noexcept : pipe_(std::move(pipe)) {}
  SimplexWriter(SimplexWriter&&) noexcept = default;
  SimplexWriter& operator=(SimplexWriter&& other) noexcept {
    SimplexWriter old(std::exchange(pipe_, std::move(other.pipe_)));
    return *this;
  }
  ~SimplexWriter() {
    if (pipe_) pipe_->end_writing();
  }

  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    ROUSE_ASSERT(pipe_, "write to an end of a pipe that was moved from");
    return pipe_->poll_write(cx, data);
  }
  Poll<Result<void>> poll_flush(Context&) { return Poll<Result<void>>::ready(Result<void>()); }
  Poll<Result<void>> poll_shutdown(Context&) {
    ROUSE_ASSERT(pipe_, "shutdown of an end of a pipe that was moved from");
    pipe_->end_writing();
    return Poll<Result<void>>::ready(Result<void>());
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(SimplexWriter, "pipe", send, &SimplexWriter::pipe_)

 private:
  RefPtr<internal::BytePipe> pipe_;
};

/// A pipe that holds `capacity` bytes, at least one.
[[nodiscard]] inline std::pair<SimplexReader, SimplexWriter> simplex(std::size_t capacity) {
  RefPtr<internal::BytePipe> pipe = make_ref<internal::BytePipe>(capacity);
  return std::pair<SimplexReader, SimplexWriter>(SimplexReader(pipe), SimplexWriter(pipe));
}

}  // namespace rouse::io
