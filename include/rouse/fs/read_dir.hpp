// fs::read_dir: what is in a directory, as a stream.
//
//   auto entries = co_await fs::read_dir("photos");
//   while (auto entry = co_await entries.next_entry()) use(entry->path());
//
// "." and ".." are left out; the order is the system's. Entries that come or go meanwhile may be
// seen or not.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/attempt.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/fs/metadata.hpp"

namespace rouse::fs {

class ReadDirCore;

class ROUSE_API DirEntry {
 public:
  DirEntry(std::string path, std::string name, std::optional<FileType> type) noexcept
      : path_(std::move(path)), name_(std::move(name)), type_(type) {}

  /// The directory's path as it was given, and the name.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& file_name() const noexcept { return name_; }
  /// Of the entry itself, not of what a link refers to. Most file systems tell the type with the
  /// name, then it is ready at once. Errors: the system's.
  [[nodiscard]] Attempt<FileType> file_type() const;
  /// See fs::symlink_metadata.
  [[nodiscard]] Attempt<Metadata> metadata() const;

 private:
  std::string path_;
  std::string name_;
  std::optional<FileType> type_;  // nothing: the file system did not tell
};

/// A Stream of DirEntry; poll_next throws std::system_error. Each hop to a blocking thread brings
/// several entries. Dropped midway, the directory is closed.
class ROUSE_API ReadDir {
 public:
  using Item = DirEntry;
  class NextEntry;

  explicit ReadDir(std::unique_ptr<ReadDirCore> core) noexcept;
  ReadDir(ReadDir&& other) noexcept;
  ReadDir& operator=(ReadDir&& other) noexcept;
  ~ReadDir();

  Poll<std::optional<DirEntry>> poll_next(Context& cx);
  Poll<Result<std::optional<DirEntry>>> poll_next_result(Context& cx);

  /// Completes with the next entry, or nothing: that was all. After an error comes the end. Dropped
  /// midway, nothing is lost: the next call gives that entry.
  NextEntry next_entry() ROUSE_LIFETIMEBOUND;
  /// The same as a stream has it. Errors are thrown, as std::system_error.
  Next<ReadDir> next() ROUSE_LIFETIMEBOUND { return Next<ReadDir>(*this); }

 private:
  std::unique_ptr<ReadDirCore> core_;  // null: moved from
};

class [[nodiscard("a future does nothing until it is polled: co_await it")]] ReadDir::NextEntry
    : public Fallible<ReadDir::NextEntry, std::optional<DirEntry>> {
 public:
  explicit NextEntry(ReadDir& dir) noexcept : dir_(&dir) {}
  Poll<Result<std::optional<DirEntry>>> poll_result(Context& cx) {
    return dir_->poll_next_result(cx);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  ReadDir* dir_;
};

inline ReadDir::NextEntry ReadDir::next_entry() { return NextEntry(*this); }

/// Completes when the directory is open. See OpenOptions::open for the rest.
ROUSE_API Attempt<ReadDir> read_dir(std::string path);

}  // namespace rouse::fs
