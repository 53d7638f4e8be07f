// The sys seam, the file system: what is done with paths. See src/sys/README.md.
// A path with a NUL in it is invalid_argument. All of it may block.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "rouse/base/result.hpp"

#include "sys/file.hpp"

namespace rouse::sys {

enum class Links : std::uint8_t { follow, dont_follow };

Result<FileStatus> status(const std::string& path, Links links) noexcept;
Result<void> set_mode(const std::string& path, std::uint32_t mode) noexcept;
Result<void> rename(const std::string& from, const std::string& to) noexcept;
Result<void> remove_file(const std::string& path) noexcept;
Result<void> create_dir(const std::string& path, std::uint32_t mode) noexcept;
Result<void> set_times(const std::string& path, const TimesToSet& times) noexcept;
/// The names in it are on the disk.
Result<void> sync_dir(const std::string& path) noexcept;
Result<void> remove_dir(const std::string& path) noexcept;
/// With all that is in it; links are removed, not followed.
Result<void> remove_dir_all(const std::string& path) noexcept;
/// With the directories above it. One that is there is no error.
Result<void> create_dir_all(const std::string& path) noexcept;
Result<void> hard_link(const std::string& original, const std::string& link) noexcept;
Result<void> symlink(const std::string& target, const std::string& link) noexcept;
Result<std::string> read_link(const std::string& path) noexcept;
Result<std::string> canonicalize(const std::string& path) noexcept;

/// A directory that is being read.
class Directory {
 public:
  struct Entry {
    std::string name;
    std::uint32_t type = 0;  // the type bits of a mode; 0: ask `status`
  };

  static Result<Directory> open(const std::string& path) noexcept;
  /// Nothing: that was all. "." and ".." are left out.
  Result<std::optional<Entry>> next() noexcept;

 private:
  struct Close {
    void operator()(void* stream) const noexcept;
  };
  explicit Directory(void* stream) noexcept : stream_(stream) {}

  std::unique_ptr<void, Close> stream_;
};

}  // namespace rouse::sys
