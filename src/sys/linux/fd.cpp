#include "sys/fd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/linux/call.hpp"

namespace rouse {

// Not retried: on Linux the descriptor is closed also when EINTR is reported.
void io::OwnedFd::close_fd(int fd) noexcept { ::close(fd); }

namespace sys {

Result<std::size_t> read(int fd, std::span<std::byte> buf) noexcept {
  return count_of([&] { return ::read(fd, buf.data(), buf.size()); });
}
Result<std::size_t> write(int fd, std::span<const std::byte> data) noexcept {
  return count_of([&] { return ::write(fd, data.data(), data.size()); });
}

Result<void> set_nonblocking(int fd, bool on) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return last_error();
  const int wanted = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  if (wanted == flags) return {};
  return done([&] { return ::fcntl(fd, F_SETFL, wanted); });
}

Result<io::OwnedFd> duplicate(int fd) noexcept {
  io::OwnedFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy) return last_error();
  return copy;
}

Result<io::OwnedFd> open_nonblocking(const std::string& path, io::Interest direction) noexcept {
  if (path.find('\0') != std::string::npos) return std::errc::invalid_argument;
  int access = O_RDWR;
  if (direction == io::Interest::readable) access = O_RDONLY;
  if (direction == io::Interest::writable) access = O_WRONLY;
  io::OwnedFd fd(retry([&] { return ::open(path.c_str(), access | O_NONBLOCK | O_CLOEXEC); }));
  if (!fd) return last_error();
  return fd;
}

Result<bool> is_fifo(int fd) noexcept {
  struct stat stat{};
  if (::fstat(fd, &stat) == -1) return last_error();
  return S_ISFIFO(stat.st_mode);
}

Result<void> set_mode(int fd, std::uint32_t mode) noexcept {
  return done([&] { return ::fchmod(fd, mode); });
}

Result<std::pair<io::OwnedFd, io::OwnedFd>> pipe() noexcept {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return last_error();
  return std::pair(io::OwnedFd(ends[0]), io::OwnedFd(ends[1]));
}

// Not closed on exec: a child has them, too.
Result<void> fill_standard_descriptors() noexcept {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(standard, F_GETFL) != -1) continue;
    io::OwnedFd null(retry([] { return ::open("/dev/null", O_RDWR); }));
    if (!null) return last_error();
    // It has the lowest number that was free. Above: another thread was faster.
    if (null.get() <= STDERR_FILENO) static_cast<void>(null.release());
  }
  return {};
}

bool is_ready_now(int fd, io::Interest interest) noexcept {
  const auto bits = static_cast<unsigned>(interest);
  pollfd look{.fd = fd, .events = 0, .revents = 0};
  if ((bits & 1) != 0) look.events |= POLLIN | POLLPRI | POLLRDHUP;
  if ((bits & 2) != 0) look.events |= POLLOUT;
  return retry([&] { return ::poll(&look, 1, 0); }) != 0;
}

bool would_block(std::error_code error) noexcept {
  static_assert(EAGAIN == EWOULDBLOCK);
  return error.value() == EAGAIN && (error.category() == std::system_category() ||
                                     error.category() == std::generic_category());
}
std::error_code last_error_code() noexcept { return last_error(); }

}  // namespace sys
}  // namespace rouse
