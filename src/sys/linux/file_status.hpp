// What the kernel's stat says, as a FileStatus.
#pragma once

#include <sys/stat.h>

#include "sys/file.hpp"

namespace rouse::sys {

inline std::int64_t nanoseconds(const timespec& time) noexcept {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
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
