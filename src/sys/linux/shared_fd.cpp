#include "sys/shared_fd.hpp"

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "sys/fd.hpp"
#include "sys/linux/call.hpp"

namespace rouse::sys {
namespace {

/// The terminals' multiplexer, /dev/ptmx: opening that makes a new terminal.
constexpr dev_t pty_master = 0x502;

/// What a terminal takes without blocking when it counts as writable: a run of plain characters, or
/// one that is translated (a line end, a tab), which its driver is given by itself.
std::size_t terminal_room(std::span<const std::byte> data) noexcept {
  constexpr std::size_t longest_run = 256;
  const auto is_plain = [](std::byte byte) { return byte >= std::byte{' '}; };
  const auto run = data.first(std::min(data.size(), longest_run));
  const auto end = std::find_if_not(run.begin(), run.end(), is_plain);
  const auto plain = static_cast<std::size_t>(end - run.begin());
  return plain == 0 ? std::min<std::size_t>(data.size(), 1) : plain;
}

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

Result<void> check_opened_for(int fd, io::Interest direction) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return last_error();
  const int other = direction == io::Interest::readable ? O_WRONLY : O_RDONLY;
  if ((flags & O_ACCMODE) == other) return std::errc::bad_file_descriptor;
  return {};
}

/// Nothing if it may not be opened.
io::OwnedFd open_anew(int fd, io::Interest direction) noexcept {
  char path[32];
  std::snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  const int mode = direction == io::Interest::readable ? O_RDONLY : O_WRONLY;
  return io::OwnedFd(retry([&] { return ::open(path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); }));
}

}  // namespace

Result<SharedCopy> share(int fd, io::Interest direction) noexcept {
  if (const Result<void> open = check_opened_for(fd, direction); !open) return open.error();
  struct stat status;
  if (::fstat(fd, &status) != 0) return last_error();
  const bool is_terminal = S_ISCHR(status.st_mode) && ::isatty(fd) == 1;
  if (S_ISFIFO(status.st_mode) || (is_terminal && status.st_rdev != pty_master)) {
    if (io::OwnedFd anew = open_anew(fd, direction)) {
      return SharedCopy{.fd = std::move(anew), .how = Sharing::opened_anew};
    }
  }
  Result<io::OwnedFd> copy = duplicate(fd);
  if (!copy) return copy.error();
  const Sharing looked_at = is_terminal ? Sharing::terminal : Sharing::looked_at;
  return SharedCopy{.fd = *std::move(copy),
                    .how = S_ISSOCK(status.st_mode) ? Sharing::socket : looked_at};
}

Result<std::size_t> read_shared(Sharing how, int fd, std::span<std::byte> buf) noexcept {
  if (how == Sharing::socket) {
    return count_of([&] { return ::recv(fd, buf.data(), buf.size(), MSG_DONTWAIT); });
  }
  if (how != Sharing::opened_anew) {
    if (const Result<void> seen = look(fd, POLLIN); !seen) return seen.error();
  }
  return count_of([&] { return ::read(fd, buf.data(), buf.size()); });
}

Result<std::size_t> write_shared(Sharing how, int fd, std::span<const std::byte> data) noexcept {
  if (how == Sharing::socket) {
    return count_of(
        [&] { return ::send(fd, data.data(), data.size(), MSG_DONTWAIT | MSG_NOSIGNAL); });
  }
  if (how != Sharing::opened_anew) {
    if (const Result<void> seen = look(fd, POLLOUT); !seen) return seen.error();
    data = data.first(how == Sharing::terminal ? terminal_room(data)
                                               : std::min<std::size_t>(data.size(), PIPE_BUF));
  }
  return write_without_signal(fd, data);
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
