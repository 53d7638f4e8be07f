// The sys seam, what a descriptor is, for people. See src/sys/README.md.
#pragma once

#include <cstddef>
#include <span>

namespace rouse::sys {

/// Writes, with a NUL at its end, what `fd` is: "tcp 127.0.0.1:80 peer 127.0.0.1:5501", or what the
/// system calls it: "pipe:[4711]". Empty if it is not open. Needs no memory and takes no lock.
void describe_fd(int fd, std::span<char> out) noexcept;

}  // namespace rouse::sys
