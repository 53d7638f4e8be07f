#include "rouse/fs/operations.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "exec/blocking/call_blocking.hpp"
#include "fs/status.hpp"
#include "sys/file_system.hpp"

namespace rouse::fs {

using namespace internal;

namespace {

sys::OpenFlags to_read() noexcept {
  sys::OpenFlags flags;
  flags.read = true;
  return flags;
}

sys::OpenFlags to_create() noexcept {
  sys::OpenFlags flags;
  flags.write = true;
  flags.create = true;
  return flags;
}

/// `Bytes` is a vector or a string. A file may be longer or shorter than its status says.
template <class Bytes>
Result<Bytes> read_all(const std::string& path) {
  const auto file = sys::File::open(path, to_read());
  if (!file) return file.error();
  const auto status = file->status();
  if (!status) return status.error();
  constexpr std::uint64_t most_trusted = std::uint64_t{1} << 30U;
  Bytes bytes;
  std::size_t size = 0;
  // One byte more: then the end is seen without more room.
  bytes.resize(static_cast<std::size_t>(std::min(status->size, most_trusted)) + 1);
  for (;;) {
    if (size == bytes.size()) bytes.resize(std::max<std::size_t>(2 * size, 4096));
    const auto room = std::as_writable_bytes(std::span(bytes)).subspan(size);
    const auto read = file->read(room);
    if (!read) return read.error();
    if (*read == 0) break;
    size += *read;
  }
  bytes.resize(size);
  return bytes;
}

Result<void> write_all(const std::string& path, std::span<const std::byte> contents) {
  sys::OpenFlags flags = to_create();
  flags.truncate = true;
  const auto file = sys::File::open(path, flags);
  if (!file) return file.error();
  return file->write_all(contents);
}

Result<std::uint64_t> copy_bytes(const sys::File& from, const sys::File& to) {
  std::vector<std::byte> buffer(std::size_t{256} << 10U);
  std::uint64_t copied = 0;
  for (;;) {
    const auto read = from.read(buffer);
    if (!read) return read.error();
    if (*read == 0) return copied;
    const auto written = to.write_all(std::span(buffer).first(*read));
    if (!written) return written.error();
    copied += *read;
  }
}

Result<std::uint64_t> copy_file(const std::string& from, const std::string& to) {
  const auto source = sys::File::open(from, to_read());
  if (!source) return source.error();
  const auto status = source->status();
  if (!status) return status.error();
  if (to_file_type(status->mode) == FileType::directory) return std::errc::is_a_directory;
  sys::OpenFlags flags = to_create();
  flags.mode = status->mode & 0777U;
  const auto target = sys::File::open(to, flags);
  if (!target) return target.error();
  const auto other = target->status();
  if (!other) return other.error();
  const bool is_same = other->device == status->device && other->inode == status->inode;
  if (is_same) return std::errc::invalid_argument;
  if (to_file_type(other->mode) == FileType::file) {
    if (const auto emptied = target->set_len(0); !emptied) return emptied.error();
    if (const auto set = target->set_mode(status->mode & 07777U); !set) return set.error();
  }
  return copy_bytes(*source, *target);
}

Result<bool> exists(const std::string& path) {
  const auto status = sys::status(path, sys::Links::follow);
  if (status) return true;
  if (status.error() == std::errc::no_such_file_or_directory) return false;
  return status.error();
}

template <class T>
AsyncResult<T> with_path(Result<T> (*call)(const std::string&), std::string path) {
  return call_blocking([call, path = std::move(path)] { return call(path); });
}

template <class T>
AsyncResult<T> with_paths(Result<T> (*call)(const std::string&, const std::string&),
                          std::string first, std::string second) {
  return call_blocking(
      [call, first = std::move(first), second = std::move(second)] { return call(first, second); });
}

Result<Metadata> followed(const std::string& path) {
  return to_metadata(sys::status(path, sys::Links::follow));
}
Result<Metadata> not_followed(const std::string& path) {
  return to_metadata(sys::status(path, sys::Links::dont_follow));
}

}  // namespace

AsyncResult<std::vector<std::byte>> read(std::string path) {
  return with_path(read_all<std::vector<std::byte>>, std::move(path));
}
AsyncResult<std::string> read_to_string(std::string path) {
  return with_path(read_all<std::string>, std::move(path));
}
AsyncResult<void> write(std::string path, io::Buffer contents) {
  std::vector<std::byte> bytes(contents.data(), contents.data() + contents.size());
  return call_blocking(
      [path = std::move(path), bytes = std::move(bytes)] { return write_all(path, bytes); });
}
AsyncResult<std::uint64_t> copy(std::string from, std::string to) {
  return with_paths(copy_file, std::move(from), std::move(to));
}
AsyncResult<void> rename(std::string from, std::string to) {
  return with_paths<void>(sys::rename, std::move(from), std::move(to));
}
AsyncResult<void> remove_file(std::string path) {
  return with_path<void>(sys::remove_file, std::move(path));
}
AsyncResult<void> hard_link(std::string original, std::string link) {
  return with_paths<void>(sys::hard_link, std::move(original), std::move(link));
}
AsyncResult<void> symlink(std::string target, std::string link) {
  return with_paths<void>(sys::symlink, std::move(target), std::move(link));
}
AsyncResult<std::string> read_link(std::string path) {
  return with_path<std::string>(sys::read_link, std::move(path));
}
AsyncResult<void> create_dir(std::string path) {
  return call_blocking([path = std::move(path)] { return sys::create_dir(path, 0777); });
}
AsyncResult<void> create_dir_all(std::string path) {
  return with_path<void>(sys::create_dir_all, std::move(path));
}
AsyncResult<void> sync_dir(std::string path) {
  return with_path<void>(sys::sync_dir, std::move(path));
}
AsyncResult<void> remove_dir(std::string path) {
  return with_path<void>(sys::remove_dir, std::move(path));
}
AsyncResult<void> remove_dir_all(std::string path) {
  return with_path<void>(sys::remove_dir_all, std::move(path));
}
AsyncResult<Metadata> metadata(std::string path) { return with_path(followed, std::move(path)); }
AsyncResult<Metadata> symlink_metadata(std::string path) {
  return with_path(not_followed, std::move(path));
}
AsyncResult<void> set_permissions(std::string path, Permissions permissions) {
  return call_blocking(
      [path = std::move(path), permissions] { return sys::set_mode(path, permissions.mode()); });
}
AsyncResult<std::string> canonicalize(std::string path) {
  return with_path<std::string>(sys::canonicalize, std::move(path));
}
AsyncResult<bool> try_exists(std::string path) { return with_path(exists, std::move(path)); }

}  // namespace rouse::fs
