#include "rouse/fs/file.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "exec/blocking_attempt.hpp"
#include "fs/file_core.hpp"
#include "fs/status.hpp"

namespace rouse::fs {
namespace {

Result<File> to_file(Result<sys::File> file) {
  if (!file) return file.error();
  return File(std::make_unique<FileCore>(*std::move(file)));
}

FilePoll<void> idle(FileCore& core) noexcept { return FilePoll<void>(core, &FileCore::poll_idle); }

/// Calls `call(file)` on a blocking thread.
template <class Call>
auto with_file(const FileCore& core, Call call) {
  return attempt_blocking([file = core.file(), call = std::move(call)] { return call(*file); });
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

Attempt<File> OpenOptions::open(std::string path) const {
  sys::OpenFlags flags;
  flags.read = read_;
  flags.write = write_;
  flags.append = append_;
  flags.truncate = truncate_;
  flags.create = create_;
  flags.create_new = create_new_;
  flags.mode = mode_;
  return attempt_blocking(
      [path = std::move(path), flags] { return to_file(sys::File::open(path, flags)); });
}

SeekFrom SeekFrom::start(std::uint64_t offset) noexcept {
  // What no file can reach is negative here, and an error of the seek.
  return SeekFrom(Base::start, static_cast<std::int64_t>(offset));
}

Attempt<File> File::open(std::string path) { return OpenOptions().read().open(std::move(path)); }
Attempt<File> File::create(std::string path) {
  return OpenOptions().write().create().truncate().open(std::move(path));
}
Attempt<File> File::create_new(std::string path) {
  return OpenOptions().read().write().create_new().open(std::move(path));
}

File::File(std::unique_ptr<FileCore> core) noexcept : core_(std::move(core)) {}
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

Attempt<void> File::flush() {
  co_return co_await FilePoll<Result<void>>(core(), &FileCore::poll_flush);
}

Attempt<std::uint64_t> File::seek(SeekFrom to) {
  FileCore& core = this->core();
  co_await idle(core);
  core.start_seek(to);
  co_return co_await FilePoll<Result<std::uint64_t>>(core, &FileCore::poll_seek);
}

Attempt<void> File::sync_all() {
  co_await flush();
  const auto call = [](const sys::File& file) { return file.sync_all(); };
  co_return co_await with_file(core(), call).result();
}

Attempt<void> File::sync_data() {
  co_await flush();
  const auto call = [](const sys::File& file) { return file.sync_data(); };
  co_return co_await with_file(core(), call).result();
}

Attempt<void> File::set_len(std::uint64_t size) {
  co_await idle(core());
  const auto call = [size](const sys::File& file) { return file.set_len(size); };
  co_return co_await with_file(core(), call).result();
}

Attempt<Metadata> File::metadata() {
  co_await idle(core());
  const auto call = [](const sys::File& file) { return to_metadata(file.status()); };
  co_return co_await with_file(core(), call).result();
}

Attempt<void> File::set_permissions(Permissions permissions) {
  co_await idle(core());
  const auto call = [permissions](const sys::File& file) {
    return file.set_mode(permissions.mode());
  };
  co_return co_await with_file(core(), call).result();
}

Attempt<File> File::try_clone() {
  // The shared position is to be where this File is, not where it has read ahead to.
  const auto here = co_await seek(SeekFrom::current(0)).result();
  if (!here && here.error() != std::errc::invalid_seek) co_return here.error();
  const auto call = [](const sys::File& file) { return to_file(file.duplicate()); };
  co_return co_await with_file(core(), call).result();
}

Attempt<std::size_t> File::read_at(io::BufferMut buf, std::uint64_t offset) const {
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

Attempt<std::size_t> File::write_at(io::Buffer data, std::uint64_t offset) const {
  const std::size_t size = std::min(data.size(), FileCore::most_at_once);
  std::vector<std::byte> bytes(data.data(), data.data() + size);
  auto call = [bytes = std::move(bytes), offset](const sys::File& file) {
    return file.write_at(bytes, offset);
  };
  co_return co_await with_file(core(), std::move(call)).result();
}

}  // namespace rouse::fs
