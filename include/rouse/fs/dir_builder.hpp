// DirBuilder: makes directories, with permissions of one's choice.
//
//   co_await fs::DirBuilder().recursive(true).mode(0700).create("state/cache");
#pragma once

#include <cstdint>
#include <string>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async_result.hpp"

namespace rouse::fs {

class ROUSE_API DirBuilder {
 public:
  DirBuilder() noexcept = default;
  /// Also makes the directories above it; existing ones are no error. Default: no.
  DirBuilder& recursive(bool on) noexcept;
  /// Permissions of what it makes, less the umask. Default: 0777.
  DirBuilder& mode(std::uint32_t mode) noexcept;

  /// Completes when the directory is there.
  /// Cancel safety: if dropped midway, it may be made all the same.
  /// Threads: tasks of a runtime.
  /// Errors: the system's: file_exists, no_such_file_or_directory, not_a_directory,
  /// permission_denied; operation_canceled if the runtime has ended.
  [[nodiscard]] AsyncResult<void> create(std::string path) const;

 private:
  bool recursive_ = false;
  std::uint32_t mode_ = 0777;
};

}  // namespace rouse::fs
