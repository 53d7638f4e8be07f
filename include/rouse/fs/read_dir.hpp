// fs::read_dir: the entries of a directory, as a stream.
//
//   auto entries = co_await fs::read_dir("photos");
//   while (auto entry = co_await entries.next_entry()) use(entry->path());
//
// "." and ".." are left out; the order is the system's. Entries that are added or removed meanwhile
// may or may not be seen.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/fs/metadata.hpp"

namespace rouse::internal {
class ReadDirCore;
}  // namespace rouse::internal

namespace rouse::fs {

/// A name in a directory.
class ROUSE_API DirEntry {
 public:
  DirEntry(std::string path, std::string name, std::optional<FileType> type) noexcept
      : path_(std::move(path)), name_(std::move(name)), type_(type) {}

  /// The directory's path as it was given, and the name.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The name alone.
  [[nodiscard]] const std::string& file_name() const noexcept { return name_; }
  /// Of the entry itself, not of the target of a link. Most file systems report the type with the
  /// name; then it is ready at once.
  /// Errors: the system's.
  [[nodiscard]] AsyncResult<FileType> file_type() const;
  /// See fs::symlink_metadata.
  [[nodiscard]] AsyncResult<Metadata> metadata() const;

 private:
  std::string path_;
  std::string name_;
  std::optional<FileType> type_;  // empty: the file system did not report it
};

/// A Stream of DirEntry; poll_next throws std::system_error. Each hop to a blocking thread fetches
/// several entries.
/// Cancel safety: dropping it closes the directory.
class ROUSE_API ReadDir {
 public:
  using Item = DirEntry;
  class NextEntry;

  explicit ReadDir(internal::Box<internal::ReadDirCore> core) noexcept;
  ReadDir(ReadDir&& other) noexcept;
  ReadDir& operator=(ReadDir&& other) noexcept;
  ~ReadDir();

  Poll<std::optional<DirEntry>> poll_next(Context& cx);
  /// The poll of next_entry.
  Poll<Result<std::optional<DirEntry>>> poll_next_result(Context& cx);

  /// Completes with the next entry, or with an empty optional at the end, which also follows an
  /// error.
  /// Cancel safety: dropping it loses nothing: the next call gives that entry.
  NextEntry next_entry() ROUSE_LIFETIMEBOUND;
  /// The same as a stream has it. Errors are thrown, as std::system_error.
  Next<ReadDir> next() ROUSE_LIFETIMEBOUND { return Next<ReadDir>(*this); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ReadDir, "directory", blocking)

 private:
  internal::Box<internal::ReadDirCore> core_;  // null: moved from
};

class [[nodiscard("a future does nothing until it is polled: co_await it")]] ReadDir::NextEntry
    : public ResultFuture<ReadDir::NextEntry, std::optional<DirEntry>> {
 public:
  explicit NextEntry(ReadDir& dir) noexcept : dir_(&dir) {}
  Poll<Result<std::optional<DirEntry>>> poll_result(Context& cx) {
    return dir_->poll_next_result(cx);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(NextEntry, "next_entry", one, &NextEntry::dir_)

 private:
  ReadDir* dir_;
};

inline ReadDir::NextEntry ReadDir::next_entry() { return NextEntry(*this); }

/// Completes when the directory is open. See OpenOptions::open for the rest.
ROUSE_API AsyncResult<ReadDir> read_dir(std::string path);

}  // namespace rouse::fs
