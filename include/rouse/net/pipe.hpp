// net::pipe: one-way byte streams between programs: FIFOs, which have a path (see mkfifo(1)), and
// pipes, which have none.
//
//   auto receiver = net::pipe::OpenOptions().open_receiver("/run/app.fifo").value();
//   std::string line; ... co_await receiver.read(buf) ...
//
//   auto [sender, other] = net::pipe::pipe();
//
// A receiver reads end of file (0) while there is no sender: before the first one, and after the
// last one is gone. A receiver that outlives its senders is opened with read_write(true): it is a
// sender itself, and so never sees the end. Writing without a receiver is broken_pipe, never a
// signal.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"

namespace rouse::net::pipe {

class Receiver;
class Sender;

/// How a FIFO is opened.
class ROUSE_API OpenOptions {
 public:
  OpenOptions() noexcept = default;

  /// Opens it for both directions. Then a sender needs no receiver to be there, and a receiver sees
  /// no end of file.
  OpenOptions& read_write(bool on) noexcept {
    read_write_ = on;
    return *this;
  }
  /// Does not check that the path is a FIFO.
  OpenOptions& unchecked(bool on) noexcept {
    unchecked_ = on;
    return *this;
  }

  /// Does not wait for a sender.
  /// Threads: any, inside a runtime.
  /// Errors: invalid_argument if the path is no FIFO; no_such_file_or_directory,
  /// permission_denied.
  [[nodiscard]] Result<Receiver> open_receiver(const std::string& path) const noexcept;
  /// Does not wait for a receiver.
  /// Threads: any, inside a runtime.
  /// Errors: no_such_device_or_address if nobody has it open to receive: try again later; and as
  /// open_receiver.
  [[nodiscard]] Result<Sender> open_sender(const std::string& path) const noexcept;

 private:
  bool read_write_ = false;
  bool unchecked_ = false;
};

/// The end to read from.
/// Threads: one task at a time reads; any number may wait in `readable`.
class ROUSE_API Receiver : public io::ReadMembers<Receiver> {
 public:
  /// Takes over the reading end of a pipe or FIFO, e.g. one that was inherited.
  static Result<Receiver> from_fd(io::OwnedFd fd) noexcept;
  explicit Receiver(io::AsyncFd io) noexcept : io_(std::move(io)) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf);
  /// Without waiting; errors: operation_would_block, and those of `read`.
  Result<std::size_t> try_read(io::BufferMut buf);
  /// See io::AsyncFd.
  io::Readiness readable() const noexcept ROUSE_LIFETIMEBOUND { return io_.readable(); }

  [[nodiscard]] int fd() const noexcept { return io_.fd(); }
  /// Deregisters the descriptor and returns it, still nonblocking.
  [[nodiscard]] io::OwnedFd into_fd() && noexcept { return std::move(io_).into_fd(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Receiver, nullptr, one, &Receiver::io_)

 private:
  io::AsyncFd io_;
};

/// The end to write to. Dropping it, or shutting it down, closes it; after the last one receivers
/// read end of file.
/// Threads: one task at a time writes; any number may wait in `writable`.
class ROUSE_API Sender : public io::WriteMembers<Sender> {
 public:
  /// Takes over the writing end of a pipe or FIFO, e.g. one that was inherited.
  static Result<Sender> from_fd(io::OwnedFd fd) noexcept;
  explicit Sender(io::AsyncFd io) noexcept : io_(std::in_place, std::move(io)) {}

  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data);
  Poll<Result<void>> poll_flush(Context&) noexcept { return Poll<Result<void>>::ready({}); }
  Poll<Result<void>> poll_shutdown(Context&) noexcept;
  /// Without waiting; errors: operation_would_block, and those of `write`.
  Result<std::size_t> try_write(io::Buffer data);
  /// See io::AsyncFd. Not after `shutdown`.
  io::Readiness writable() const noexcept ROUSE_LIFETIMEBOUND {
    ROUSE_ASSERT(io_, "writable() of a pipe::Sender after shutdown: nothing can be written");
    return (*io_).writable();
  }

  /// -1 after `shutdown`.
  [[nodiscard]] int fd() const noexcept { return io_ ? (*io_).fd() : -1; }
  /// Deregisters the descriptor and returns it, still nonblocking; empty after `shutdown`.
  [[nodiscard]] io::OwnedFd into_fd() && noexcept;
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Sender, nullptr, one, &Sender::io_)

 private:
  internal::Maybe<io::AsyncFd> io_;
};

/// A new pipe. Throws std::system_error.
/// Threads: any, inside a runtime.
[[nodiscard]] ROUSE_API std::pair<Sender, Receiver> pipe();

}  // namespace rouse::net::pipe
