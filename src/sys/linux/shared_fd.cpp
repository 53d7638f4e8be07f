#include "sys/shared_fd.hpp"

#include <algorithm>
#include <climits>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/linux/call.hpp"

namespace rouse::sys {
namespace {

/// Nothing: a call would not block, be it because it fails.
Result<void> look(int fd, short events) noexcept {
  pollfd looked{.fd = fd, .events = events, .revents = 0};
  const int count = retry([&] { return ::poll(&looked, 1, 0); });
  if (count < 0) return last_error();
  if (count == 0) return std::errc::operation_would_block;
  return {};
}

sigset_t only_sigpipe() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

/// Keeps SIGPIPE away from this thread, and takes the one back that a write has raised.
class WithoutSigpipe {
 public:
  WithoutSigpipe() noexcept {
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
    // Unless the thread had blocked it, none can be pending for it.
    if (sigismember(&before_, SIGPIPE) != 1) return;
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;
  ~WithoutSigpipe() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  void take_raised() noexcept {
    if (was_pending_) return;
    constexpr timespec at_once{.tv_sec = 0, .tv_nsec = 0};
    retry([&] { return sigtimedwait(&sigpipe_, nullptr, &at_once); });
  }

 private:
  const sigset_t sigpipe_ = only_sigpipe();
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace

Result<bool> is_socket(int fd) noexcept {
  struct stat status;
  if (::fstat(fd, &status) != 0) return last_error();
  return S_ISSOCK(status.st_mode);
}

Result<void> check_opened_for(int fd, io::Interest direction) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return last_error();
  const int other = direction == io::Interest::readable ? O_WRONLY : O_RDONLY;
  if ((flags & O_ACCMODE) == other) return std::errc::bad_file_descriptor;
  return {};
}

Result<std::size_t> read_shared(int fd, std::span<std::byte> buf) noexcept {
  if (const Result<void> seen = look(fd, POLLIN); !seen) return seen.error();
  return count_of([&] { return ::read(fd, buf.data(), buf.size()); });
}
Result<std::size_t> receive_shared(int socket, std::span<std::byte> buf) noexcept {
  return count_of([&] { return ::recv(socket, buf.data(), buf.size(), MSG_DONTWAIT); });
}

Result<std::size_t> write_shared(int fd, std::span<const std::byte> data) noexcept {
  if (const Result<void> seen = look(fd, POLLOUT); !seen) return seen.error();
  return write_without_signal(fd, data.first(std::min<std::size_t>(data.size(), PIPE_BUF)));
}
Result<std::size_t> send_shared(int socket, std::span<const std::byte> data) noexcept {
  return count_of(
      [&] { return ::send(socket, data.data(), data.size(), MSG_DONTWAIT | MSG_NOSIGNAL); });
}

Result<std::size_t> write_without_signal(int fd, std::span<const std::byte> data) noexcept {
  WithoutSigpipe guard;
  const auto written = retry([&] { return ::write(fd, data.data(), data.size()); });
  if (written >= 0) return static_cast<std::size_t>(written);
  const int error = errno;
  if (error == EPIPE) guard.take_raised();
  return error_of(error);
}

}  // namespace rouse::sys
