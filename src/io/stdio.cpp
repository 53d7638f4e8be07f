#include "rouse/io/stdio.hpp"

#include <utility>

#include "rouse/io/error.hpp"

#include "sys/fd.hpp"
#include "sys/shared_fd.hpp"

namespace rouse::io {
namespace {

using Transferred = Poll<Result<std::size_t>>;

}  // namespace

SharedFd::SharedFd(int fd, Interest direction) noexcept {
  Result<sys::SharedCopy> copy = sys::share(fd, direction);
  if (!copy) {
    error_ = copy.error();
    return;
  }
  how_ = copy->how;
  if (Result<AsyncFd> made = AsyncFd::own(std::move(copy->fd), direction)) {
    watched_ = *std::move(made);
  } else if (made.error() != Error::not_pollable) {
    error_ = made.error();
  } else if (Result<OwnedFd> plain = sys::duplicate(fd)) {
    unwatched_ = *std::move(plain);
  } else {
    error_ = plain.error();
  }
}

template <class Fn>
Transferred SharedFd::poll_transfer(Context& cx, Interest direction, Fn fn) {
  if (error_) return Transferred::ready(Result<std::size_t>(error_));
  if (watched_) return watched_->poll_io(cx, direction, fn);
  if (!cx.take_budget()) return pending;
  return Transferred::ready(fn());
}

Transferred SharedFd::poll_read(Context& cx, std::span<std::byte> buf) {
  return poll_transfer(cx, Interest::readable, [&] {
    if (!watched_) return sys::read(unwatched_.get(), buf);
    return sys::read_shared(how_, watched_->fd(), buf);
  });
}

Transferred SharedFd::poll_write(Context& cx, std::span<const std::byte> data) {
  return poll_transfer(cx, Interest::writable, [&] {
    if (!watched_) return sys::write(unwatched_.get(), data);
    return sys::write_shared(how_, watched_->fd(), data);
  });
}

Stdin stdin_() noexcept { return Stdin(0); }
Stdout stdout_() noexcept { return Stdout(1); }
Stdout stderr_() noexcept { return Stdout(2); }

}  // namespace rouse::io
