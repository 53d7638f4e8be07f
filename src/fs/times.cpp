#include "rouse/fs/times.hpp"

#include <utility>

#include "exec/blocking/call_blocking.hpp"
#include "fs/file_core.hpp"
#include "sys/file_system.hpp"

namespace rouse::fs {

using namespace internal;
namespace {

std::optional<std::int64_t> since_1970(std::optional<Metadata::Time> time) noexcept {
  if (!time) return std::nullopt;
  return time->time_since_epoch().count();
}
sys::TimesToSet native(const FileTimes& times) noexcept {
  return {.accessed_ns = since_1970(times.accessed()), .modified_ns = since_1970(times.modified())};
}

}  // namespace

FileTimes& FileTimes::set_accessed(Metadata::Time time) noexcept {
  accessed_ = time;
  return *this;
}
FileTimes& FileTimes::set_modified(Metadata::Time time) noexcept {
  modified_ = time;
  return *this;
}

AsyncResult<void> set_times(std::string path, FileTimes times) {
  return call_blocking(
      [path = std::move(path), times] { return sys::set_times(path, native(times)); });
}
AsyncResult<void> set_times(const File& file, FileTimes times) {
  return call_blocking(
      [opened = file.core().file(), times] { return opened->set_times(native(times)); });
}

}  // namespace rouse::fs
