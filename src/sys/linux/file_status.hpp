// What the kernel's statx says, as a FileStatus; and times for it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "sys/file.hpp"
#include "sys/linux/call.hpp"

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

inline std::int64_t nanoseconds(const statx_timestamp& time) noexcept {
  return nanoseconds(timespec{.tv_sec = time.tv_sec, .tv_nsec = time.tv_nsec});
}

/// As statx: of a path, or of the descriptor `at` with an empty path and AT_EMPTY_PATH.
inline Result<FileStatus> status_of(int at, const char* path, int flags) noexcept {
  struct statx found{};
  if (::statx(at, path, flags, STATX_BASIC_STATS | STATX_BTIME, &found) == -1) return last_error();
  FileStatus status;
  status.size = found.stx_size;
  status.mode = found.stx_mode;
  status.accessed_ns = nanoseconds(found.stx_atime);
  status.modified_ns = nanoseconds(found.stx_mtime);
  status.device = makedev(found.stx_dev_major, found.stx_dev_minor);
  status.inode = found.stx_ino;
  status.links = found.stx_nlink;
  status.uid = found.stx_uid;
  status.gid = found.stx_gid;
  if ((found.stx_mask & STATX_BTIME) != 0) status.created_ns = nanoseconds(found.stx_btime);
  return status;
}

/// The two times that utimensat takes.
class NativeTimes {
 public:
  explicit NativeTimes(const TimesToSet& times) noexcept
      : times_{of(times.accessed_ns), of(times.modified_ns)} {}
  [[nodiscard]] const timespec* data() const noexcept { return times_; }

 private:
  static timespec of(std::optional<std::int64_t> ns) noexcept {
    constexpr std::int64_t second = 1'000'000'000;
    if (!ns) return {.tv_sec = 0, .tv_nsec = UTIME_OMIT};
    const std::int64_t rest = *ns % second;
    const bool is_before = rest < 0;  // tv_nsec counts forward
    return {.tv_sec = static_cast<time_t>(*ns / second - (is_before ? 1 : 0)),
            .tv_nsec = is_before ? rest + second : rest};
  }
  timespec times_[2];
};

}  // namespace rouse::sys
