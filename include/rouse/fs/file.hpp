// fs::File: an open file. The kernel reports no readiness for files, so each operation runs on a
// blocking thread of the runtime.
//
//   auto file = co_await fs::File::open("notes.txt");
//   std::size_t n = co_await file.read(buf);
//
//   auto log = co_await fs::OpenOptions().append().create().open("log");
//   co_await log.write("started\n");
//   co_await log.flush();            // otherwise an error of the last write is not seen
//
// The bytes go through the file's own buffer, so after a future is dropped nobody reads or writes
// your memory. An operation moves at most 2 MiB. `write` completes when the bytes are in that
// buffer: the next write, flush or sync reports an error. Accepted bytes are written even if the
// File is dropped or the runtime ends first: the runtime's destructor waits for that,
// shutdown_timeout until its time is up; otherwise the write continues for as long as the process
// lives. Only flush() says that it is done, and without an error. What a dropped read has already
// read goes to the next one.
// Threads: one task at a time (read_at and write_at: any number, of a const File; they do not wait
// for a `write` in progress: call flush() in between).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/fs/metadata.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/seek_from.hpp"
#include "rouse/io/write.hpp"

namespace rouse::internal {
class FileCore;
}  // namespace rouse::internal

namespace rouse::fs {

class File;

/// How to open a file. invalid_argument without read, write or append; for creating or truncating
/// without write access; and for truncating with append.
class ROUSE_API OpenOptions {
 public:
  OpenOptions() noexcept = default;

  /// The file may be read.
  OpenOptions& read(bool on = true) noexcept;
  /// The file may be written, from its start.
  OpenOptions& write(bool on = true) noexcept;
  /// Each write goes to the end of the file.
  OpenOptions& append(bool on = true) noexcept;
  /// Drops what is in the file.
  OpenOptions& truncate(bool on = true) noexcept;
  /// Creates the file if it does not exist.
  OpenOptions& create(bool on = true) noexcept;
  /// Creates the file; file_exists if it exists.
  OpenOptions& create_new(bool on = true) noexcept;
  /// Permissions of a new file, less the umask. Default: 0666.
  OpenOptions& mode(std::uint32_t mode) noexcept;
  /// More flags of open(2), e.g. O_NOFOLLOW or O_DIRECT; those of the access mode are ignored.
  OpenOptions& custom_flags(int flags) noexcept;

  /// Completes with the open file.
  /// Cancel safety: if dropped midway, the file may still be opened (and created, and truncated).
  /// Threads: tasks of a runtime.
  /// Errors: the system's; operation_canceled if the runtime has ended. The same holds for all of
  /// fs.
  [[nodiscard]] AsyncResult<File> open(std::string path) const;

 private:
  bool read_ = false;
  bool write_ = false;
  bool append_ = false;
  bool truncate_ = false;
  bool create_ = false;
  bool create_new_ = false;
  std::uint32_t mode_ = 0666;
  int custom_flags_ = 0;
};

/// A position in a file.
using io::SeekFrom;

class ROUSE_API File : public io::ReadMembers<File>, public io::WriteMembers<File> {
 public:
  /// For reading. See OpenOptions::open.
  [[nodiscard]] static AsyncResult<File> open(std::string path);
  /// For writing; created if it does not exist, otherwise emptied.
  [[nodiscard]] static AsyncResult<File> create(std::string path);
  /// For reading and writing; must not exist.
  [[nodiscard]] static AsyncResult<File> create_new(std::string path);

  /// Takes over an open file, e.g. one that another program passed on.
  [[nodiscard]] static File from_fd(io::OwnedFd fd);

  explicit File(internal::Box<internal::FileCore> core) noexcept;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  // AsyncRead, AsyncWrite; `read` and `write` are made of them. shutdown is a flush.
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf);
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data);
  Poll<Result<void>> poll_flush(Context& cx);
  Poll<Result<void>> poll_shutdown(Context& cx) { return poll_flush(cx); }
  // AsyncSeek.
  Result<void> start_seek(SeekFrom to);
  Poll<Result<std::uint64_t>> poll_complete(Context& cx);

  /// Completes when all written bytes have been passed to the system.
  /// Cancel safety: if dropped midway, the write continues.
  /// Errors: that of a write.
  [[nodiscard]] AsyncResult<void> flush();
  /// Completes with the new position, from the start.
  /// Cancel safety: if dropped midway, it may or may not have moved.
  [[nodiscard]] AsyncResult<std::uint64_t> seek(SeekFrom to);
  /// Flushes, and completes when everything is on the disk; sync_data: what is needed to read the
  /// bytes again.
  /// Errors: also that of a write.
  [[nodiscard]] AsyncResult<void> sync_all();
  /// As sync_all, without timestamps and the like.
  [[nodiscard]] AsyncResult<void> sync_data();

  // These wait for a read or a write in progress.
  // Cancel safety: if dropped midway, they run on.
  /// Truncates the file, or fills it up with zeros. The position stays.
  [[nodiscard]] AsyncResult<void> set_len(std::uint64_t size);
  /// Completes with what the file system knows about the file. See fs::metadata.
  [[nodiscard]] AsyncResult<Metadata> metadata();
  /// Completes when the permissions are changed.
  [[nodiscard]] AsyncResult<void> set_permissions(Permissions permissions);
  /// Another File that shares this one's position.
  [[nodiscard]] AsyncResult<File> try_clone();
  /// Flushes, and completes with the descriptor, at the position of this File: for a library, or
  /// for process::Stdio::from.
  /// Cancel safety: if dropped midway, the file is closed when what was written is in it.
  /// Errors: also that of a write. too_many_files_open, and the file is closed, only if a call that
  /// was dropped midway still uses it.
  [[nodiscard]] AsyncResult<io::OwnedFd> into_fd() &&;

  // These two don't wait for a `write` in progress, and may overtake it: flush() first, if they are
  // to come after it.
  /// Completes with how many bytes were read, fewer than requested at end of file; the position
  /// stays.
  /// Cancel safety: dropping it loses nothing.
  /// Threads: several may run at a time.
  [[nodiscard]] AsyncResult<std::size_t> read_at(io::BufferMut buf, std::uint64_t offset) const;
  /// Completes with how many bytes were written, at most 2 MiB; the position stays.
  /// Cancel safety: if dropped midway, they may or may not be written.
  /// Threads: several may run at a time.
  [[nodiscard]] AsyncResult<std::size_t> write_at(io::Buffer data, std::uint64_t offset) const;

  /// For the other functions of fs.
  internal::FileCore& core() const noexcept;
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(File, "file", blocking)

 private:
  internal::Box<internal::FileCore> core_;  // null: moved from
};

}  // namespace rouse::fs
