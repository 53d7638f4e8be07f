// ChildStdin, ChildStdout, ChildStderr: this process's ends of a child's pipes.
// ChildWrite: a write to the first of them.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/core/waker.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"

namespace rouse::internal {

/// Whether a write to a child's stdin is pending. The pipe and its write share it, so that either
/// may be dropped first.
class ROUSE_API PendingWrite : public RefCounted<PendingWrite> {
 public:
  /// Whether a write waits for room.
  [[nodiscard]] bool is_pending() const noexcept { return is_pending_; }
  /// If false, wakes whoever waits for that.
  void set_pending(bool is_pending) noexcept;
  /// Wakes the task of `cx` when it no longer does.
  void wake_when_done(Context& cx) { when_done_ = cx.waker(); }

 private:
  bool is_pending_ = false;
  Waker when_done_;
};

}  // namespace rouse::internal

namespace rouse::process {

/// `W` (io::WriteAll, say) to a child's stdin. Dropping it makes the write no longer pending.
template <class W>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] ChildWrite
    : public ResultFuture<ChildWrite<W>, typename W::Output> {
 public:
  ChildWrite(W write, RefPtr<internal::PendingWrite> state) noexcept
      : write_(std::move(write)), state_(std::move(state)) {}
  ChildWrite(ChildWrite&&) noexcept = default;
  ~ChildWrite() {
    if (state_ && is_pending_) state_->set_pending(false);
  }

  Poll<Result<typename W::Output>> poll_result(Context& cx) {
    auto polled = write_.poll_result(cx);
    is_pending_ = polled.is_pending();
    return polled;
  }
  /// How many bytes were written so far.
  [[nodiscard]] std::size_t written() const noexcept
    requires requires(const W& write) { write.written(); }
  {
    return write_.written();
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ChildWrite, nullptr, one, &ChildWrite::write_)

 private:
  W write_;
  RefPtr<internal::PendingWrite> state_;  // nothing once it was moved from
  bool is_pending_ = false;
};

/// What the child reads. Dropping it, or shutting it down, gives the child end of file. Nothing is
/// buffered.
/// Threads: one task at a time.
/// Errors: std::errc::broken_pipe if the child reads no more, never a signal.
class ROUSE_API ChildStdin : public io::WriteMembers<ChildStdin> {
 public:
  explicit ChildStdin(io::AsyncFd pipe)
      : pipe_(std::in_place, std::move(pipe)), write_(make_ref<internal::PendingWrite>()) {}

  /// See io::Write.
  ChildWrite<io::Write<ChildStdin>> write(io::Buffer data) ROUSE_LIFETIMEBOUND {
    return {io::Write<ChildStdin>(*this, data), write_};
  }
  /// See io::Writev.
  ChildWrite<io::Writev<ChildStdin>> writev(std::span<const io::Buffer> bufs) ROUSE_LIFETIMEBOUND {
    return {io::Writev<ChildStdin>(*this, bufs), write_};
  }
  /// See io::WriteAll.
  ChildWrite<io::WriteAll<ChildStdin>> write_all(io::Buffer data) ROUSE_LIFETIMEBOUND {
    return {io::WriteAll<ChildStdin>(*this, data), write_};
  }
  /// See io::WriteAllVectored.
  ChildWrite<io::WriteAllVectored<ChildStdin>> write_all_vectored(std::span<const io::Buffer> bufs)
      ROUSE_LIFETIMEBOUND {
    return {io::WriteAllVectored<ChildStdin>(*this, bufs), write_};
  }

  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data);
  Poll<Result<void>> poll_flush(Context&) noexcept;
  Poll<Result<void>> poll_shutdown(Context&) noexcept;
  /// Shuts down at once, or after a pending write: then `cx` is woken to call this again when that
  /// write has completed or was dropped.
  void shut_down_when_written(Context& cx);
  /// The pipe itself, which blocks now, as other programs expect: the stdout of another child, say.
  [[nodiscard]] io::OwnedFd into_fd() && noexcept;
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ChildStdin, nullptr, one, &ChildStdin::pipe_)

 private:
  internal::Maybe<io::AsyncFd> pipe_;     // nothing once it was shut down
  RefPtr<internal::PendingWrite> write_;  // nothing once it was moved from
};

/// What the child writes. Reading gives 0 when the child, and everybody who inherited the pipe from
/// it, has closed it.
/// Threads: one task at a time.
class ROUSE_API ChildOutput : public io::ReadMembers<ChildOutput> {
 public:
  explicit ChildOutput(io::AsyncFd pipe) noexcept : pipe_(std::move(pipe)) {}
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf);
  /// The pipe itself, which blocks now, as other programs expect: the stdin of another child, say.
  [[nodiscard]] io::OwnedFd into_fd() && noexcept;
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ChildOutput, nullptr, one, &ChildOutput::pipe_)

 private:
  io::AsyncFd pipe_;
};

/// What the child writes.
using ChildStdout = ChildOutput;
/// What the child writes to stderr.
using ChildStderr = ChildOutput;

}  // namespace rouse::process
