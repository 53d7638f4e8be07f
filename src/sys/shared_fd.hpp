// The sys seam, descriptors that other processes have too, as the standard streams: whether they
// block is a property that all share, so it is left alone, and each call looks before whether it
// would block. See src/sys/README.md.
#pragma once

#include <cstddef>
#include <span>

#include "rouse/base/result.hpp"
#include "rouse/io/ready.hpp"

namespace rouse::sys {

/// Whether `fd` is a socket, which can be told with each call not to wait.
Result<bool> is_socket(int fd) noexcept;

/// Error: bad_file_descriptor if `fd` was opened for the other direction only. Waiting for that
/// would never end.
Result<void> check_opened_for(int fd, io::Interest direction) noexcept;

/// Whatever `fd` is; operation_would_block: there is nothing to read yet. If another reader of the
/// same pipe or terminal is faster than this one between its look and its read, it waits.
Result<std::size_t> read_shared(int fd, std::span<std::byte> buf) noexcept;
Result<std::size_t> receive_shared(int socket, std::span<std::byte> buf) noexcept;
/// Takes so much at most as a pipe that has room for anything has room for. No SIGPIPE.
Result<std::size_t> write_shared(int fd, std::span<const std::byte> data) noexcept;
Result<std::size_t> send_shared(int socket, std::span<const std::byte> data) noexcept;

/// As sys::write; who writes to a pipe that nobody reads gets broken_pipe, and no SIGPIPE. One that
/// was pending before stays pending.
Result<std::size_t> write_without_signal(int fd, std::span<const std::byte> data) noexcept;

}  // namespace rouse::sys
