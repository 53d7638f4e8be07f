// stdin_, stdout_, stderr_: the standard streams of the process, whatever they are connected to: a
// terminal, a pipe, a FIFO, a socket, a file, /dev/null.
//
//   auto out = io::stdout_();
//   co_await out.write_all("hello\n");
//
// The shell, and others who share the terminal or pipe, must not find it changed: O_NONBLOCK stays
// as it is. Each object reopens the pipe or terminal for itself in nonblocking mode, however many
// use it at once. Where that is not allowed (it belongs to another user, or /proc is missing), the
// object has a duplicate, and checks before each call whether it would block: if two use the same
// pipe or terminal at once, here or in another process, the slower one may then block its thread. A
// regular file is read and written directly, which takes as long as the disk takes.
//
// Nothing is buffered here: when write_all completes, the system has the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"

namespace rouse::sys {
enum class Sharing : std::uint8_t;
}

namespace rouse::internal {

/// Our own descriptor of something shared with other processes, used in one direction.
/// Threads: one task at a time.
class ROUSE_API StdioFd {
 public:
  /// Threads: any, inside a runtime. If that fails, because `fd` is not open for instance, its
  /// error is that of every later call.
  StdioFd(int fd, io::Interest direction) noexcept;

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf);
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data);
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(StdioFd, nullptr, one, &StdioFd::watched_)

 private:
  template <class Fn>
  Poll<Result<std::size_t>> poll_transfer(Context& cx, io::Interest direction, Fn fn);

  internal::Maybe<io::AsyncFd> watched_;
  io::OwnedFd unwatched_;  // for what is always ready: a regular file, /dev/null
  sys::Sharing how_{};
  std::error_code error_;  // why there is neither
};

}  // namespace rouse::internal

namespace rouse::io {

/// Standard input.
/// Errors: bad_file_descriptor if descriptor 0 is not open; the system's.
class ROUSE_API Stdin : public ReadMembers<Stdin> {
 public:
  explicit Stdin(int fd) noexcept : fd_(fd, Interest::readable) {}
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    return fd_.poll_read(cx, buf);
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Stdin, nullptr, one, &Stdin::fd_)

 private:
  internal::StdioFd fd_;
};

/// Standard output or standard error. Shutting it down does nothing: the descriptor belongs to the
/// whole process.
/// Errors: std::errc::broken_pipe when nobody reads it any more, never a signal.
class ROUSE_API Stdout : public WriteMembers<Stdout> {
 public:
  explicit Stdout(int fd) noexcept : fd_(fd, Interest::writable) {}
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    return fd_.poll_write(cx, data);
  }
  Poll<Result<void>> poll_flush(Context&) noexcept { return done(); }
  Poll<Result<void>> poll_shutdown(Context&) noexcept { return done(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Stdout, nullptr, one, &Stdout::fd_)

 private:
  static Poll<Result<void>> done() noexcept { return Poll<Result<void>>::ready(Result<void>()); }
  internal::StdioFd fd_;
};

/// Threads: any, inside a runtime.
[[nodiscard]] ROUSE_API Stdin stdin_() noexcept;
/// As stdin_.
[[nodiscard]] ROUSE_API Stdout stdout_() noexcept;
/// As stdin_.
[[nodiscard]] ROUSE_API Stdout stderr_() noexcept;

}  // namespace rouse::io
