// Setting the times of a file.
//
//   co_await fs::set_times("notes.txt", fs::FileTimes().set_modified(then));
//
// Cancel safety, threads and errors: as all of fs/operations.hpp.
#pragma once

#include <optional>
#include <string>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/fs/file.hpp"
#include "rouse/fs/metadata.hpp"

namespace rouse::fs {

/// The times to set. What is not given stays as it is.
class ROUSE_API FileTimes {
 public:
  FileTimes() noexcept = default;
  /// When it was last read.
  FileTimes& set_accessed(Metadata::Time time) noexcept;
  /// When its bytes were last changed.
  FileTimes& set_modified(Metadata::Time time) noexcept;

  [[nodiscard]] std::optional<Metadata::Time> accessed() const noexcept { return accessed_; }
  [[nodiscard]] std::optional<Metadata::Time> modified() const noexcept { return modified_; }

 private:
  std::optional<Metadata::Time> accessed_;
  std::optional<Metadata::Time> modified_;
};

/// Of a file by its path. Follows links.
[[nodiscard]] ROUSE_API AsyncResult<void> set_times(std::string path, FileTimes times);
/// Of an open file. Does not wait for a `write` in progress, which sets its time, too: flush()
/// first.
[[nodiscard]] ROUSE_API AsyncResult<void> set_times(const File& file, FileTimes times);

}  // namespace rouse::fs
