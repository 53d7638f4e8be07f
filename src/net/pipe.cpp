#include "rouse/net/pipe.hpp"

#include "sys/fd.hpp"
#include "sys/shared_fd.hpp"

namespace rouse::net::pipe {
namespace {

using Moved = Poll<Result<std::size_t>>;

Result<io::AsyncFd> watch(io::OwnedFd fd, io::Interest direction) noexcept {
  if (const Result<void> set = sys::set_nonblocking(fd.get(), true); !set) return set.error();
  return io::AsyncFd::own(std::move(fd), direction);
}

Result<io::OwnedFd> open(const std::string& path, io::Interest direction, bool checked) noexcept {
  Result<io::OwnedFd> fd = sys::open_nonblocking(path, direction);
  if (!fd || !checked) return fd;
  const Result<bool> is_fifo = sys::is_fifo(fd->get());
  if (!is_fifo) return is_fifo.error();
  if (!*is_fifo) return std::errc::invalid_argument;
  return fd;
}

}  // namespace

Result<Receiver> OpenOptions::open_receiver(const std::string& path) const noexcept {
  auto fd = open(path, read_write_ ? io::Interest::both : io::Interest::readable, !unchecked_);
  if (!fd) return fd.error();
  return Receiver::from_fd(*std::move(fd));
}
Result<Sender> OpenOptions::open_sender(const std::string& path) const noexcept {
  auto fd = open(path, read_write_ ? io::Interest::both : io::Interest::writable, !unchecked_);
  if (!fd) return fd.error();
  return Sender::from_fd(*std::move(fd));
}

Result<Receiver> Receiver::from_fd(io::OwnedFd fd) noexcept {
  return watch(std::move(fd), io::Interest::readable).map([](io::AsyncFd io) {
    return Receiver(std::move(io));
  });
}
Moved Receiver::poll_read(Context& cx, std::span<std::byte> buf) {
  return io_.poll_io(cx, io::Interest::readable, [&] { return sys::read(io_.fd(), buf); });
}
Result<std::size_t> Receiver::try_read(io::BufferMut buf) {
  return io_.try_io(io::Interest::readable, [&] { return sys::read(io_.fd(), buf); });
}

Result<Sender> Sender::from_fd(io::OwnedFd fd) noexcept {
  return watch(std::move(fd), io::Interest::writable).map([](io::AsyncFd io) {
    return Sender(std::move(io));
  });
}
Moved Sender::poll_write(Context& cx, std::span<const std::byte> data) {
  if (!io_) return Moved::ready(Result<std::size_t>(std::errc::broken_pipe));
  return (*io_).poll_io(cx, io::Interest::writable,
                        [&] { return sys::write_without_signal((*io_).fd(), data); });
}
Poll<Result<void>> Sender::poll_shutdown(Context&) noexcept {
  io_.reset();
  return Poll<Result<void>>::ready({});
}
Result<std::size_t> Sender::try_write(io::Buffer data) {
  if (!io_) return std::errc::broken_pipe;
  return (*io_).try_io(io::Interest::writable,
                       [&] { return sys::write_without_signal((*io_).fd(), data); });
}
io::OwnedFd Sender::into_fd() && noexcept {
  return io_ ? std::move(*io_).into_fd() : io::OwnedFd();
}

std::pair<Sender, Receiver> pipe() {
  auto [out, in] = sys::pipe().value();
  return {Sender::from_fd(std::move(in)).value(), Receiver::from_fd(std::move(out)).value()};
}

}  // namespace rouse::net::pipe
