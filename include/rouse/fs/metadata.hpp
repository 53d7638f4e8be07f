// What the file system knows about a file: Metadata, with its FileType and its Permissions.
#pragma once

#include <cstdint>
#include <optional>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"

namespace rouse::fs {

enum class FileType : std::uint8_t { file, directory, symlink, other };

/// The nine bits rwxrwxrwx, and set-user-id, set-group-id, sticky.
class Permissions {
 public:
  explicit constexpr Permissions(std::uint32_t mode) noexcept : mode_(mode & 07777U) {}

  /// The bits as a number: 0644.
  [[nodiscard]] constexpr std::uint32_t mode() const noexcept { return mode_; }
  /// Nobody may write.
  [[nodiscard]] constexpr bool readonly() const noexcept { return (mode_ & 0222U) == 0; }
  /// False lets everybody write: rather create Permissions with the mode you want.
  constexpr void set_readonly(bool readonly) noexcept {
    mode_ = readonly ? mode_ & ~0222U : mode_ | 0222U;
  }

  friend constexpr bool operator==(Permissions, Permissions) noexcept = default;

 private:
  std::uint32_t mode_;
};

/// The result of `fs::metadata` and `File::metadata`. A value: it does not change with the file.
class Metadata {
 public:
  /// Of the system's clock, to the nanosecond.
  using Time = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

  /// What a Metadata is made of.
  struct Fields {
    FileType type = FileType::other;
    std::uint32_t mode = 0;
    std::uint64_t size = 0;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t links = 0;
    Time accessed;
    Time modified;
    std::optional<Time> created;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
  };
  explicit Metadata(const Fields& fields) noexcept : fields_(fields) {}

  /// A file, a directory, a link, or something else.
  [[nodiscard]] FileType file_type() const noexcept { return fields_.type; }
  /// A regular file.
  [[nodiscard]] bool is_file() const noexcept { return fields_.type == FileType::file; }
  /// A directory.
  [[nodiscard]] bool is_dir() const noexcept { return fields_.type == FileType::directory; }
  /// A symbolic link: only of fs::symlink_metadata, others follow it.
  [[nodiscard]] bool is_symlink() const noexcept { return fields_.type == FileType::symlink; }
  /// Bytes.
  [[nodiscard]] std::uint64_t len() const noexcept { return fields_.size; }
  /// Who may do what.
  [[nodiscard]] Permissions permissions() const noexcept { return Permissions(fields_.mode); }
  /// A time that `Time` can't hold, before 1677 or after 2262, is Time::min() or Time::max().
  [[nodiscard]] Time accessed() const noexcept { return fields_.accessed; }
  /// When its bytes were last changed; limits as `accessed`.
  [[nodiscard]] Time modified() const noexcept { return fields_.modified; }
  /// When it was created; empty: the file system does not know.
  [[nodiscard]] std::optional<Time> created() const noexcept { return fields_.created; }
  /// The user it belongs to.
  [[nodiscard]] std::uint32_t uid() const noexcept { return fields_.uid; }
  /// The group it belongs to.
  [[nodiscard]] std::uint32_t gid() const noexcept { return fields_.gid; }
  /// Two files are the same if device and inode are.
  [[nodiscard]] std::uint64_t device() const noexcept { return fields_.device; }
  /// See `device`.
  [[nodiscard]] std::uint64_t inode() const noexcept { return fields_.inode; }
  /// The number of hard links.
  [[nodiscard]] std::uint64_t links() const noexcept { return fields_.links; }

 private:
  Fields fields_;
};

}  // namespace rouse::fs
