#include "rouse/fs/dir_builder.hpp"

#include <utility>

#include "rouse/fs/metadata.hpp"

#include "exec/blocking/call_blocking.hpp"
#include "fs/status.hpp"
#include "sys/file_system.hpp"

namespace rouse::fs {

using namespace internal;
namespace {

bool is_directory(const std::string& path) noexcept {
  const auto status = sys::status(path, sys::Links::follow);
  return status && to_file_type(status->mode) == FileType::directory;
}

/// One that is there is no error, whoever made it, and when.
Result<void> create_unless_there(const std::string& path, std::uint32_t mode) {
  const Result<void> made = sys::create_dir(path, mode);
  if (!made && made.error() == std::errc::file_exists && is_directory(path)) return {};
  return made;
}

Result<void> create_all(const std::string& path, std::uint32_t mode) {
  const Result<void> made = create_unless_there(path, mode);
  if (made || made.error() != std::errc::no_such_file_or_directory) return made;
  const std::size_t end = path.find_last_not_of('/');
  const std::size_t slash = path.find_last_of('/', end);
  if (end == std::string::npos || slash == std::string::npos || slash == 0) return made;
  if (const Result<void> above = create_all(path.substr(0, slash), mode); !above) return above;
  return create_unless_there(path, mode);
}

}  // namespace

DirBuilder& DirBuilder::recursive(bool on) noexcept {
  recursive_ = on;
  return *this;
}
DirBuilder& DirBuilder::mode(std::uint32_t mode) noexcept {
  mode_ = mode;
  return *this;
}

AsyncResult<void> DirBuilder::create(std::string path) const {
  return call_blocking([path = std::move(path), builder = *this] {
    return builder.recursive_ ? create_all(path, builder.mode_)
                              : sys::create_dir(path, builder.mode_);
  });
}

}  // namespace rouse::fs
