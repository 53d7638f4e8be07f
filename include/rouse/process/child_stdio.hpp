// ChildStdin, ChildStdout, ChildStderr: this process's ends of a child's pipes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/core/waker.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"

namespace rouse::process {

/// What the child reads. Dropping it, or shutting it down, is the end of the child's input. If the
/// child reads no more, writing is the error std::errc::broken_pipe, never a signal. Nothing is
/// buffered. One task at a time.
class ROUSE_API ChildStdin : public io::WriteMembers<ChildStdin> {
 public:
  explicit ChildStdin(io::AsyncFd pipe) noexcept : pipe_(std::move(pipe)) {}
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data);
  Poll<Result<void>> poll_flush(Context&) noexcept;
  Poll<Result<void>> poll_shutdown(Context&) noexcept;
  /// At once, or after the write that is pending: then `cx` is woken to call this again.
  void shut_down_when_written(Context& cx);
  /// The pipe itself, which blocks now, as other programs expect: the stdout of another child, say.
  [[nodiscard]] io::OwnedFd into_fd() && noexcept;

 private:
  std::optional<io::AsyncFd> pipe_;  // nothing once it was shut down
  bool is_writing_ = false;          // a write is pending
  Waker when_written_;               // who waits for its end
};

/// What the child writes. Reading gives 0 when the child, and whoever has the pipe from it, has
/// closed it. One task at a time.
class ROUSE_API ChildOutput : public io::ReadMembers<ChildOutput> {
 public:
  explicit ChildOutput(io::AsyncFd pipe) noexcept : pipe_(std::move(pipe)) {}
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf);
  /// The pipe itself, which blocks now, as other programs expect: the stdin of another child, say.
  [[nodiscard]] io::OwnedFd into_fd() && noexcept;

 private:
  io::AsyncFd pipe_;
};

using ChildStdout = ChildOutput;
using ChildStderr = ChildOutput;

}  // namespace rouse::process
