#include "sys/file.hpp"

#include <algorithm>
#include <fcntl.h>
#include <limits>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "sys/fd.hpp"
#include "sys/linux/call.hpp"
#include "sys/linux/file_status.hpp"
#include "sys/shared_fd.hpp"

namespace rouse::sys {
namespace {

/// What read and write take at most in one call.
constexpr std::size_t most_at_once = 0x7fff'f000;

Result<void> done(int result) noexcept {
  if (result == -1) return last_error();
  return {};
}

Result<std::size_t> counted(::ssize_t result) noexcept {
  if (result == -1) return last_error();
  return static_cast<std::size_t>(result);
}

std::optional<::off_t> to_offset(std::uint64_t offset) noexcept {
  if (offset > static_cast<std::uint64_t>(std::numeric_limits<::off_t>::max())) return std::nullopt;
  return static_cast<::off_t>(offset);
}

int native_base(SeekBase base) noexcept {
  if (base == SeekBase::start) return SEEK_SET;
  return base == SeekBase::current ? SEEK_CUR : SEEK_END;
}

std::optional<int> access_flags(const OpenFlags& flags) noexcept {
  const bool writes = flags.write || flags.append;
  const int append = flags.append ? O_APPEND : 0;
  if (flags.read && writes) return O_RDWR | append;
  if (writes) return O_WRONLY | append;
  if (flags.read) return O_RDONLY;
  return std::nullopt;
}

std::optional<int> creation_flags(const OpenFlags& flags) noexcept {
  const bool writes = flags.write || flags.append;
  if (!writes && (flags.truncate || flags.create || flags.create_new)) return std::nullopt;
  if (flags.append && flags.truncate && !flags.create_new) return std::nullopt;
  if (flags.create_new) return O_CREAT | O_EXCL;
  return (flags.create ? O_CREAT : 0) | (flags.truncate ? O_TRUNC : 0);
}

}  // namespace

Result<File> File::open(const std::string& path, const OpenFlags& flags) noexcept {
  const auto access = access_flags(flags);
  const auto creation = creation_flags(flags);
  const bool has_nul = path.find('\0') != std::string::npos;
  if (!access || !creation || has_nul) return std::errc::invalid_argument;
  const int descriptor = retry([&] {
    return ::open(path.c_str(), *access | *creation | (flags.custom & ~O_ACCMODE) | O_CLOEXEC,
                  flags.mode);
  });
  if (descriptor == -1) return last_error();
  return File(descriptor);
}

File::File(File&& other) noexcept : descriptor_(other.release()) {}

File::~File() {
  if (descriptor_ != -1) ::close(descriptor_);
}

Result<std::size_t> File::read(std::span<std::byte> bytes) const noexcept {
  const std::size_t size = std::min(bytes.size(), most_at_once);
  return counted(retry([&] { return ::read(descriptor_, bytes.data(), size); }));
}

Result<void> File::write_all(std::span<const std::byte> bytes) const noexcept {
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), most_at_once);
    const auto written = write_without_signal(descriptor_, bytes.first(size));  // it may be a pipe
    if (!written) return written.error();
    if (*written == 0) return std::errc::io_error;
    bytes = bytes.subspan(*written);
  }
  return {};
}

Result<std::size_t> File::read_at(std::span<std::byte> bytes, std::uint64_t offset) const noexcept {
  const auto at = to_offset(offset);
  if (!at) return std::errc::invalid_argument;
  const std::size_t size = std::min(bytes.size(), most_at_once);
  return counted(retry([&] { return ::pread(descriptor_, bytes.data(), size, *at); }));
}

Result<std::size_t> File::write_at(std::span<const std::byte> bytes,
                                   std::uint64_t offset) const noexcept {
  const auto at = to_offset(offset);
  if (!at) return std::errc::invalid_argument;
  const std::size_t size = std::min(bytes.size(), most_at_once);
  return counted(retry([&] { return ::pwrite(descriptor_, bytes.data(), size, *at); }));
}

Result<std::uint64_t> File::seek(std::int64_t offset, SeekBase base) const noexcept {
  const ::off_t position = ::lseek(descriptor_, offset, native_base(base));
  if (position == -1) return last_error();
  return static_cast<std::uint64_t>(position);
}

Result<void> File::sync_all() const noexcept {
  return done(retry([&] { return ::fsync(descriptor_); }));
}

Result<void> File::sync_data() const noexcept {
  return done(retry([&] { return ::fdatasync(descriptor_); }));
}

Result<void> File::set_len(std::uint64_t size) const noexcept {
  const auto end = to_offset(size);
  if (!end) return std::errc::invalid_argument;
  return done(retry([&] { return ::ftruncate(descriptor_, *end); }));
}

Result<FileStatus> File::status() const noexcept {
  return status_of(descriptor_, "", AT_EMPTY_PATH);
}

Result<void> File::set_mode(std::uint32_t mode) const noexcept {
  return sys::set_mode(descriptor_, mode);
}

Result<void> File::set_times(const TimesToSet& times) const noexcept {
  const NativeTimes native(times);
  return done(::futimens(descriptor_, native.data()));
}

Result<bool> File::try_lock(LockKind kind) const noexcept {
  const int operation = (kind == LockKind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  if (retry([&] { return ::flock(descriptor_, operation); }) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return last_error();
}
Result<void> File::unlock() const noexcept {
  return done(retry([&] { return ::flock(descriptor_, LOCK_UN); }));
}

Result<File> File::duplicate() const noexcept {
  const int descriptor = retry([&] { return ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0); });
  if (descriptor == -1) return last_error();
  return File(descriptor);
}

}  // namespace rouse::sys
