// What the kernel's stat says, as a FileStatus.
#pragma once

#include <cstdint>
#include <limits>
#include <sys/stat.h>

#include "sys/file.hpp"

namespace rouse::sys {

/// Since 1970. What does not fit, before 1677 and after 2262, is as far away as fits.
inline std::int64_t nanoseconds(const timespec& time) noexcept {
  std::int64_t ns = 0;
  if (!__builtin_mul_overflow(std::int64_t{time.tv_sec}, 1'000'000'000, &ns) &&
      !__builtin_add_overflow(ns, time.tv_nsec, &ns)) {
    return ns;
  }
  using Limits = std::numeric_limits<std::int64_t>;
  return time.tv_sec < 0 ? Limits::min() : Limits::max();
}

inline FileStatus to_status(const struct stat& stat) noexcept {
  FileStatus status;
  status.size = static_cast<std::uint64_t>(stat.st_size);
  status.mode = stat.st_mode;
  status.accessed_ns = nanoseconds(stat.st_atim);
  status.modified_ns = nanoseconds(stat.st_mtim);
  status.device = stat.st_dev;
  status.inode = stat.st_ino;
  status.links = stat.st_nlink;
  return status;
}

}  // namespace rouse::sys
