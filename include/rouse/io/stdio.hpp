// stdin_, stdout_, stderr_: the standard streams of the process, whatever they are: a terminal, a
// pipe, a FIFO, a socket, a file, /dev/null.
//
//   auto out = io::stdout_();
//   co_await out.write_all("hello\n");
//
// The shell, and whoever else has the same terminal or pipe, must not find it changed: O_NONBLOCK
// stays as it is. Each object opens the pipe or terminal once more for itself, in a way that does
// not block, however many use it at once. Where that is not allowed (it belongs to another user, or
// /proc is missing) the object has a duplicate, and looks before each call whether it would block:
// if two use the same pipe or terminal at once, here or in another process, the slower one may then
// block its thread.
// A regular file is read and written directly, which takes as long as the disk takes.
//
// Nothing is buffered here: what write_all has completed with has been given to the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"

namespace rouse::sys {
enum class Sharing : std::uint8_t;
}

namespace rouse::io {

/// A descriptor of our own of what others share, used in one direction. One task at a time.
class ROUSE_API SharedFd {
 public:
  /// Inside a runtime. If that fails, because `fd` is not open for instance, its error is that of
  /// every later call.
  SharedFd(int fd, Interest direction) noexcept;

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf);
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data);

 private:
  template <class Fn>
  Poll<Result<std::size_t>> poll_transfer(Context& cx, Interest direction, Fn fn);

  std::optional<AsyncFd> watched_;
  OwnedFd unwatched_;  // what is always ready: a regular file, /dev/null
  sys::Sharing how_{};
  std::error_code error_;  // why there is neither
};

/// Reads what the process is given. Errors: bad_file_descriptor if descriptor 0 is not open; what
/// the system says.
class ROUSE_API Stdin : public ReadMembers<Stdin> {
 public:
  explicit Stdin(int fd) noexcept : fd_(fd, Interest::readable) {}
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    return fd_.poll_read(cx, buf);
  }

 private:
  SharedFd fd_;
};

/// Writes what the process has to say. When nobody reads it any more that is the error
/// std::errc::broken_pipe, never a signal. Shutting it down does nothing: the descriptor belongs to
/// the whole process.
class ROUSE_API Stdout : public WriteMembers<Stdout> {
 public:
  explicit Stdout(int fd) noexcept : fd_(fd, Interest::writable) {}
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    return fd_.poll_write(cx, data);
  }
  Poll<Result<void>> poll_flush(Context&) noexcept { return done(); }
  Poll<Result<void>> poll_shutdown(Context&) noexcept { return done(); }

 private:
  static Poll<Result<void>> done() noexcept { return Poll<Result<void>>::ready(Result<void>()); }
  SharedFd fd_;
};

/// Inside a runtime.
[[nodiscard]] ROUSE_API Stdin stdin_() noexcept;
[[nodiscard]] ROUSE_API Stdout stdout_() noexcept;
[[nodiscard]] ROUSE_API Stdout stderr_() noexcept;

}  // namespace rouse::io
