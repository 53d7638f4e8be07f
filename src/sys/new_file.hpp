// The sys seam, a file that is there whole or not at all. Needs no memory, so it may be written
// when a program is about to abort. See src/sys/README.md.
#pragma once

#include <array>

#include "rouse/base/result.hpp"
#include "rouse/io/owned_fd.hpp"

namespace rouse::sys {

/// Is written beside the place where it is to be. For its user alone.
class NewFile {
 public:
  /// `path` ends with a zero. Errors: those of open; filename_too_long; interrupted is tried again.
  explicit NewFile(const char* path) noexcept;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  /// What was not published is gone.
  ~NewFile();

  /// Why it could not be made.
  [[nodiscard]] const Result<void>& made() const noexcept { return made_; }
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  /// Gives it its name; what was there is replaced. Errors: those of rename.
  Result<void> publish() noexcept;

 private:
  static constexpr std::size_t longest_path = 4096;
  std::array<char, longest_path> path_;
  std::array<char, longest_path> part_;
  io::OwnedFd file_;
  Result<void> made_;
  bool is_published_ = false;
};

}  // namespace rouse::sys
