#include "fs/status.hpp"

namespace rouse::fs {
namespace {

// POSIX leaves these to the system; all of them chose the same.
constexpr std::uint32_t type_bits = 0170000;
constexpr std::uint32_t regular = 0100000;
constexpr std::uint32_t directory = 0040000;
constexpr std::uint32_t link = 0120000;

Metadata::Time to_time(std::int64_t ns) noexcept {
  return Metadata::Time(std::chrono::nanoseconds(ns));
}

}  // namespace

FileType to_file_type(std::uint32_t mode) noexcept {
  switch (mode & type_bits) {
    case regular:
      return FileType::file;
    case directory:
      return FileType::directory;
    case link:
      return FileType::symlink;
    default:
      return FileType::other;
  }
}

Result<Metadata> to_metadata(const Result<sys::FileStatus>& status) noexcept {
  if (!status) return status.error();
  Metadata::Fields fields;
  fields.type = to_file_type(status->mode);
  fields.mode = status->mode;
  fields.size = status->size;
  fields.device = status->device;
  fields.inode = status->inode;
  fields.links = status->links;
  fields.accessed = to_time(status->accessed_ns);
  fields.modified = to_time(status->modified_ns);
  if (status->created_ns) fields.created = to_time(*status->created_ns);
  fields.uid = status->uid;
  fields.gid = status->gid;
  return Metadata(fields);
}

}  // namespace rouse::fs
