// The sys seam, descriptors of any kind. Nothing here blocks if the descriptor does not. All that
// is opened is closed on exec. See src/sys/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "rouse/base/result.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/io/ready.hpp"

namespace rouse::sys {

Result<std::size_t> read(int fd, std::span<std::byte> buf) noexcept;
Result<std::size_t> write(int fd, std::span<const std::byte> data) noexcept;

Result<void> set_nonblocking(int fd, bool on) noexcept;
Result<io::OwnedFd> duplicate(int fd) noexcept;
/// Does not wait for who opens the other end of a FIFO. Error: invalid_argument if the path has a
/// NUL in it.
Result<io::OwnedFd> open_nonblocking(const std::string& path, io::Interest direction) noexcept;
Result<bool> is_fifo(int fd) noexcept;
/// Of the file. Of a socket before it is bound: what its file will have, less the umask.
Result<void> set_mode(int fd, std::uint32_t mode) noexcept;
/// The end to read from, and the one to write to; blocking.
Result<std::pair<io::OwnedFd, io::OwnedFd>> pipe() noexcept;

/// Opens /dev/null for each of the descriptors 0, 1 and 2 that is not open. Else what is opened
/// next would be taken for a standard stream: what is printed would go to a socket.
Result<void> fill_standard_descriptors() noexcept;

/// Whether a call would not block, be it because it fails.
bool is_ready_now(int fd, io::Interest interest) noexcept;

/// The error a call gave would not be there if it could have waited.
bool would_block(std::error_code error) noexcept;
/// What errno says now.
std::error_code last_error_code() noexcept;

}  // namespace rouse::sys
