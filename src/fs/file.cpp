#include "rouse/fs/file.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "exec/blocking/call_blocking.hpp"
#include "fs/file_core.hpp"
#include "fs/status.hpp"
#include "sys/fd.hpp"

namespace rouse::fs {

using namespace internal;
namespace {

Result<File> to_file(Result<sys::File> file) {
  if (!file) return file.error();
  return File(internal::make_box<FileCore>(*std::move(file)));
}

FilePoll<void> idle(FileCore& core) noexcept { return FilePoll<void>(core, &FileCore::poll_idle); }

AsyncResult<io::OwnedFd> to_fd(File file) {
  co_await file.flush();
  // Where this File is, not where it has read ahead to.
  const auto here = co_await file.seek(SeekFrom::current(0)).result();
  if (!here && here.error() != std::errc::invalid_seek) co_return here.error();
  co_return file.core().release();
}

/// Calls `call(file)` on a blocking thread.
template <class Call>
auto with_file(const FileCore& core, Call call) {
  return call_blocking([file = core.file(), call = std::move(call)] { return call(*file); });
}

}  // namespace

OpenOptions& OpenOptions::read(bool on) noexcept {
  read_ = on;
  return *this;
}
OpenOptions& OpenOptions::write(bool on) noexcept {
  write_ = on;
  return *this;
}
OpenOptions& OpenOptions::append(bool on) noexcept {
  append_ = on;
  return *this;
}
OpenOptions& OpenOptions::truncate(bool on) noexcept {
  truncate_ = on;
  return *this;
}
OpenOptions& OpenOptions::create(bool on) noexcept {
  create_ = on;
  return *this;
}
OpenOptions& OpenOptions::create_new(bool on) noexcept {
  create_new_ = on;
  return *this;
}
OpenOptions& OpenOptions::mode(std::uint32_t mode) noexcept {
  mode_ = mode;
  return *this;
}

OpenOptions& OpenOptions::custom_flags(int flags) noexcept {
  custom_flags_ = flags;
  return *this;
}

AsyncResult<File> OpenOptions::open(std::string path) const {
  sys::OpenFlags flags;
  flags.read = read_;
  flags.write = write_;
  flags.append = append_;
  flags.truncate = truncate_;
  flags.create = create_;
  flags.create_new = create_new_;
  flags.mode = mode_;
  flags.custom = custom_flags_;
  return call_blocking(
      [path = std::move(path), flags] { return to_file(sys::File::open(path, flags)); });
}

AsyncResult<File> File::open(std::string path) {
  return OpenOptions().read().open(std::move(path));
}
AsyncResult<File> File::create(std::string path) {
  return OpenOptions().write().create().truncate().open(std::move(path));
}
AsyncResult<File> File::create_new(std::string path) {
  return OpenOptions().read().write().create_new().open(std::move(path));
}

File File::from_fd(io::OwnedFd fd) {
  ROUSE_ASSERT(fd, "File::from_fd needs an open descriptor: this OwnedFd has none");
  return File(internal::make_box<FileCore>(sys::File(fd.release())));
}

File::File(internal::Box<FileCore> core) noexcept : core_(std::move(core)) {}
File::File(File&& other) noexcept = default;
File& File::operator=(File&& other) noexcept = default;
File::~File() = default;

FileCore& File::core() const noexcept {
  ROUSE_ASSERT(core_, "a File was used after it was moved from");
  return *core_;
}

Poll<Result<std::size_t>> File::poll_read(Context& cx, std::span<std::byte> buf) {
  return core().poll_read(cx, buf);
}
Poll<Result<std::size_t>> File::poll_write(Context& cx, std::span<const std::byte> data) {
  return core().poll_write(cx, data);
}
Poll<Result<void>> File::poll_flush(Context& cx) { return core().poll_flush(cx); }

Result<void> File::start_seek(SeekFrom to) {
  core().start_seek(to);
  return {};
}
Poll<Result<std::uint64_t>> File::poll_complete(Context& cx) { return core().poll_complete(cx); }

AsyncResult<void> File::flush() {
  co_return co_await FilePoll<Result<void>>(core(), &FileCore::poll_flush);
}

AsyncResult<std::uint64_t> File::seek(SeekFrom to) {
  FileCore& core = this->core();
  co_await idle(core);
  core.start_seek(to);
  co_return co_await FilePoll<Result<std::uint64_t>>(core, &FileCore::poll_seek);
}

AsyncResult<void> File::sync_all() {
  co_await flush();
  const auto call = [](const sys::File& file) { return file.sync_all(); };
  co_return co_await with_file(core(), call).result();
}

AsyncResult<void> File::sync_data() {
  co_await flush();
  const auto call = [](const sys::File& file) { return file.sync_data(); };
  co_return co_await with_file(core(), call).result();
}

AsyncResult<void> File::set_len(std::uint64_t size) {
  co_await idle(core());
  const auto call = [size](const sys::File& file) { return file.set_len(size); };
  co_return co_await with_file(core(), call).result();
}

AsyncResult<Metadata> File::metadata() {
  co_await idle(core());
  const auto call = [](const sys::File& file) { return to_metadata(file.status()); };
  co_return co_await with_file(core(), call).result();
}

AsyncResult<void> File::set_permissions(Permissions permissions) {
  co_await idle(core());
  const auto call = [permissions](const sys::File& file) {
    return file.set_mode(permissions.mode());
  };
  co_return co_await with_file(core(), call).result();
}

AsyncResult<File> File::try_clone() {
  // The shared position is to be where this File is, not where it has read ahead to.
  const auto here = co_await seek(SeekFrom::current(0)).result();
  if (!here && here.error() != std::errc::invalid_seek) co_return here.error();
  const auto call = [lock_state = core().lock_state()](const sys::File& file) -> Result<File> {
    Result<sys::File> duplicate = file.duplicate();
    if (!duplicate) return duplicate.error();
    return File(internal::make_box<FileCore>(*std::move(duplicate), lock_state));
  };
  co_return co_await with_file(core(), call).result();
}

AsyncResult<io::OwnedFd> File::into_fd() && { return to_fd(std::move(*this)); }

AsyncResult<std::size_t> File::read_at(io::BufferMut buf, std::uint64_t offset) const {
  using Bytes = std::vector<std::byte>;
  const std::size_t size = std::min(buf.size(), FileCore::most_at_once);
  const auto call = [size, offset](const sys::File& file) -> Result<Bytes> {
    Bytes bytes(size);
    const auto read = file.read_at(bytes, offset);
    if (!read) return read.error();
    bytes.resize(*read);
    return bytes;
  };
  const Bytes bytes = co_await with_file(core(), call);
  if (!bytes.empty()) std::memcpy(buf.data(), bytes.data(), bytes.size());
  co_return bytes.size();
}

AsyncResult<std::size_t> File::write_at(io::Buffer data, std::uint64_t offset) const {
  const std::size_t size = std::min(data.size(), FileCore::most_at_once);
  std::vector<std::byte> bytes(data.data(), data.data() + size);
  auto call = [bytes = std::move(bytes), offset](const sys::File& file) {
    return file.write_at(bytes, offset);
  };
  co_return co_await with_file(core(), std::move(call)).result();
}

}  // namespace rouse::fs
