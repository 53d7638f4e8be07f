#include "rouse/io/stdio.hpp"

#include <utility>

#include "rouse/io/error.hpp"

#include "sys/fd.hpp"
#include "sys/shared_fd.hpp"

namespace rouse::internal {
namespace {

using Transferred = Poll<Result<std::size_t>>;

}  // namespace

StdioFd::StdioFd(int fd, io::Interest direction) noexcept {
  Result<sys::SharedCopy> copy = sys::share(fd, direction);
  if (!copy) {
    error_ = copy.error();
    return;
  }
  how_ = copy->how;
  if (Result<io::AsyncFd> made = io::AsyncFd::own(std::move(copy->fd), direction)) {
    watched_.emplace(*std::move(made));
  } else if (made.error() != io::Error::not_pollable) {
    error_ = made.error();
  } else if (Result<io::OwnedFd> plain = sys::duplicate(fd)) {
    unwatched_ = *std::move(plain);
  } else {
    error_ = plain.error();
  }
}

template <class Fn>
Transferred StdioFd::poll_transfer(Context& cx, io::Interest direction, Fn fn) {
  if (error_) return Transferred::ready(Result<std::size_t>(error_));
  if (watched_) return (*watched_).poll_io(cx, direction, fn);
  if (!cx.take_budget()) return pending;
  return Transferred::ready(fn());
}

Transferred StdioFd::poll_read(Context& cx, std::span<std::byte> buf) {
  return poll_transfer(cx, io::Interest::readable, [&] {
    if (!watched_) return sys::read(unwatched_.get(), buf);
    return sys::read_shared(how_, (*watched_).fd(), buf);
  });
}

Transferred StdioFd::poll_write(Context& cx, std::span<const std::byte> data) {
  return poll_transfer(cx, io::Interest::writable, [&] {
    if (!watched_) return sys::write(unwatched_.get(), data);
    return sys::write_shared(how_, (*watched_).fd(), data);
  });
}

}  // namespace rouse::internal

namespace rouse::io {

Stdin stdin_() noexcept { return Stdin(0); }
Stdout stdout_() noexcept { return Stdout(1); }
Stdout stderr_() noexcept { return Stdout(2); }

}  // namespace rouse::io
