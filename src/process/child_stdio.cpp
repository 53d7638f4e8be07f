#include "rouse/process/child_stdio.hpp"

#include <system_error>

#include "sys/fd.hpp"
#include "sys/shared_fd.hpp"

namespace rouse {

void internal::PendingWrite::set_pending(bool is_pending) noexcept {
  is_pending_ = is_pending;
  if (!is_pending && when_done_) std::exchange(when_done_, Waker()).wake();
}

namespace process {
namespace {

/// Our end is nobody else's, so this changes nothing for the child.
io::OwnedFd blocking(io::OwnedFd pipe) noexcept {
  static_cast<void>(sys::set_nonblocking(pipe.get(), false));
  return pipe;
}

}  // namespace

Poll<Result<std::size_t>> ChildStdin::poll_write(Context& cx, std::span<const std::byte> data) {
  if (!pipe_) return Poll<Result<std::size_t>>::ready(std::errc::broken_pipe);
  auto polled = (*pipe_).poll_io(cx, io::Interest::writable,
                                 [&] { return sys::write_without_signal((*pipe_).fd(), data); });
  write_->set_pending(polled.is_pending());
  return polled;
}

void ChildStdin::shut_down_when_written(Context& cx) {
  if (write_ && write_->is_pending()) {
    write_->wake_when_done(cx);
  } else {
    pipe_.reset();
  }
}

Poll<Result<void>> ChildStdin::poll_flush(Context&) noexcept {
  return Poll<Result<void>>::ready(Result<void>());
}

Poll<Result<void>> ChildStdin::poll_shutdown(Context&) noexcept {
  pipe_.reset();
  return Poll<Result<void>>::ready(Result<void>());
}

io::OwnedFd ChildStdin::into_fd() && noexcept {
  return pipe_ ? blocking(std::move(*pipe_).into_fd()) : io::OwnedFd();
}

Poll<Result<std::size_t>> ChildOutput::poll_read(Context& cx, std::span<std::byte> buf) {
  return pipe_.poll_io(cx, io::Interest::readable, [&] { return sys::read(pipe_.fd(), buf); });
}

io::OwnedFd ChildOutput::into_fd() && noexcept { return blocking(std::move(pipe_).into_fd()); }

}  // namespace process
}  // namespace rouse
