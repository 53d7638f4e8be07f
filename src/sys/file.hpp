// The sys seam, files: an open file, and what can be done with it. See src/sys/README.md.
// All of it may block, on a disk or on the network behind it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "rouse/base/result.hpp"

namespace rouse::sys {

struct OpenFlags {
  bool read = false;
  bool write = false;
  bool append = false;
  bool truncate = false;
  bool create = false;
  bool create_new = false;
  std::uint32_t mode = 0666;  // of a new file, less the umask
  int custom = 0;             // more flags of the system
};

/// What stat tells.
struct FileStatus {
  std::uint64_t size = 0;
  std::uint32_t mode = 0;        // with the bits of the file type
  std::int64_t accessed_ns = 0;  // since 1970
  std::int64_t modified_ns = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t links = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::optional<std::int64_t> created_ns;  // nothing: the file system does not know
};

/// Since 1970; nothing: stays as it is.
struct TimesToSet {
  std::optional<std::int64_t> accessed_ns;
  std::optional<std::int64_t> modified_ns;
};

enum class LockKind : std::uint8_t { exclusive, shared };

/// Who wants the lock of an open file, which all its duplicates share: for fs::lock.
class FileLockState {
 public:
  std::mutex mutex;
  unsigned attempts = 0;  ///< that have locked it, and whose future has not seen that yet
  bool is_held = false;   ///< somebody was told that it is locked
};

enum class SeekBase : std::uint8_t { start, current, end };

/// Owns its descriptor.
class File {
 public:
  static Result<File> open(const std::string& path, const OpenFlags& flags) noexcept;
  explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
  File(File&& other) noexcept;
  File& operator=(File&&) = delete;
  ~File();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Gives the descriptor up. For the last who refers to this.
  [[nodiscard]] int release() const noexcept { return descriptor_.exchange(-1); }

  /// How many bytes were read; 0 is the end.
  Result<std::size_t> read(std::span<std::byte> bytes) const noexcept;
  Result<void> write_all(std::span<const std::byte> bytes) const noexcept;
  Result<std::size_t> read_at(std::span<std::byte> bytes, std::uint64_t offset) const noexcept;
  Result<std::size_t> write_at(std::span<const std::byte> bytes,
                               std::uint64_t offset) const noexcept;
  /// The new position, from the start.
  Result<std::uint64_t> seek(std::int64_t offset, SeekBase base) const noexcept;
  Result<void> sync_all() const noexcept;
  Result<void> sync_data() const noexcept;
  Result<void> set_len(std::uint64_t size) const noexcept;
  Result<FileStatus> status() const noexcept;
  Result<void> set_mode(std::uint32_t mode) const noexcept;
  Result<void> set_times(const TimesToSet& times) const noexcept;
  /// False: somebody else has it locked. Never waits for that.
  Result<bool> try_lock(LockKind kind) const noexcept;
  Result<void> unlock() const noexcept;
  /// Another descriptor of the same open file: they share the position.
  Result<File> duplicate() const noexcept;

 private:
  mutable std::atomic<int> descriptor_;  // -1: moved from, or released
};

}  // namespace rouse::sys
