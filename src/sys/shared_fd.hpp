// The sys seam, descriptors that other processes have too, as the standard streams. Whether they
// block is a property that all share, so it is left alone. See src/sys/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rouse/base/result.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/io/ready.hpp"

namespace rouse::sys {

/// How a descriptor that others share is used without blocking.
enum class Sharing : std::uint8_t {
  opened_anew,  ///< a pipe or terminal, opened once more: this one does not block
  socket,       ///< each call says that it must not wait
  looked_at,    ///< each call looks before whether it would block
  terminal,     ///< the same, for a terminal: little is written at a time
};

struct SharedCopy {
  io::OwnedFd fd;
  Sharing how;
};

/// A descriptor of our own of what `fd` is. Error: bad_file_descriptor if `fd` was opened for the
/// other direction only, where waiting would never end; what the system says.
/// A pipe or terminal that may not be opened anew (it belongs to another user, or there is no
/// /proc) is looked at: if others use it at the same moment, a call may wait for them.
Result<SharedCopy> share(int fd, io::Interest direction) noexcept;

/// operation_would_block: there is nothing to read yet.
Result<std::size_t> read_shared(Sharing how, int fd, std::span<std::byte> buf) noexcept;
/// May write less than all of it. No SIGPIPE.
Result<std::size_t> write_shared(Sharing how, int fd, std::span<const std::byte> data) noexcept;

/// As sys::write; who writes to a pipe that nobody reads gets broken_pipe, and no SIGPIPE. One that
/// was pending before stays pending.
Result<std::size_t> write_without_signal(int fd, std::span<const std::byte> data) noexcept;

}  // namespace rouse::sys
