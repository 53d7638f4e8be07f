// fs::File: an open file. Files can't be waited for as sockets can, so each operation is done on a
// blocking thread of the runtime.
//
//   auto file = co_await fs::File::open("notes.txt");
//   std::size_t n = co_await file.read(buf);
//
//   auto log = co_await fs::OpenOptions().append().create().open("log");
//   co_await log.write("started\n");
//   co_await log.flush();            // else an error of the last write would not be seen
//
// The bytes travel in a buffer of the file's own, so that a future that is dropped leaves nobody
// who reads or writes your memory. An operation moves 2 MiB at most.
// `write` is ready when the bytes are in that buffer: an error is told by the next write, flush or
// sync. Bytes that were taken are written, also if the File is dropped or the runtime ends first:
// its destructor waits for that, shutdown_timeout as long as it may; else the writing goes on by
// itself, for as long as the process lives. Only flush() says that it is done, and without an
// error. What a dropped read had read already is what the next one gives. One task uses a File at a
// time (read_at and write_at: any number, of a const File; they do not wait for a `write` under
// way: say flush() between).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/attempt.hpp"
#include "rouse/fs/metadata.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"

namespace rouse::fs {

class File;
class FileCore;

/// How a file is to be opened. Without read, write or append it is invalid_argument, as is creating
/// or truncating what is not to be written, and truncating what is to be appended to.
class ROUSE_API OpenOptions {
 public:
  OpenOptions() noexcept = default;

  OpenOptions& read(bool on = true) noexcept;
  OpenOptions& write(bool on = true) noexcept;
  /// Each write goes to the end of the file.
  OpenOptions& append(bool on = true) noexcept;
  /// Drops what is in the file.
  OpenOptions& truncate(bool on = true) noexcept;
  /// Makes the file if there is none.
  OpenOptions& create(bool on = true) noexcept;
  /// Makes the file; file_exists if there is one.
  OpenOptions& create_new(bool on = true) noexcept;
  /// Permissions of a new file, less the umask. Default: 0666.
  OpenOptions& mode(std::uint32_t mode) noexcept;

  /// Completes with the open file. Dropped midway, the file may be opened (and made, and truncated)
  /// all the same. Tasks of a Runtime. Errors: the system's; operation_canceled if the runtime has
  /// ended. The same holds for all of fs.
  [[nodiscard]] Attempt<File> open(std::string path) const;

 private:
  bool read_ = false;
  bool write_ = false;
  bool append_ = false;
  bool truncate_ = false;
  bool create_ = false;
  bool create_new_ = false;
  std::uint32_t mode_ = 0666;
};

/// A position in a file.
class SeekFrom {
 public:
  enum class Base : std::uint8_t { start, current, end };

  static SeekFrom start(std::uint64_t offset) noexcept;
  static SeekFrom current(std::int64_t offset) noexcept { return SeekFrom(Base::current, offset); }
  static SeekFrom end(std::int64_t offset) noexcept { return SeekFrom(Base::end, offset); }

  [[nodiscard]] Base base() const noexcept { return base_; }
  [[nodiscard]] std::int64_t offset() const noexcept { return offset_; }

 private:
  SeekFrom(Base base, std::int64_t offset) noexcept : base_(base), offset_(offset) {}

  Base base_;
  std::int64_t offset_;
};

class ROUSE_API File : public io::ReadMembers<File>, public io::WriteMembers<File> {
 public:
  /// For reading. See OpenOptions::open.
  [[nodiscard]] static Attempt<File> open(std::string path);
  /// For writing; made if it is not there, else emptied.
  [[nodiscard]] static Attempt<File> create(std::string path);
  /// For reading and writing; must not be there.
  [[nodiscard]] static Attempt<File> create_new(std::string path);

  explicit File(std::unique_ptr<FileCore> core) noexcept;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  // AsyncRead, AsyncWrite; `read` and `write` are made of them. shutdown is a flush.
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf);
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data);
  Poll<Result<void>> poll_flush(Context& cx);
  Poll<Result<void>> poll_shutdown(Context& cx) { return poll_flush(cx); }

  /// Completes when all that was written has been given to the system. Error: that of a write.
  /// Dropped midway, the writing goes on.
  [[nodiscard]] Attempt<void> flush();
  /// Completes with the new position, from the start. Dropped midway, it may have moved or not.
  [[nodiscard]] Attempt<std::uint64_t> seek(SeekFrom to);
  /// Flushes, and completes when all of it is on the disk; sync_data: what is needed to read the
  /// bytes again. Errors: also that of a write.
  [[nodiscard]] Attempt<void> sync_all();
  [[nodiscard]] Attempt<void> sync_data();

  // These wait for a read or a write under way. Dropped midway, they go on by themselves.
  /// Cuts the file off, or fills it up with zeros. The position stays.
  [[nodiscard]] Attempt<void> set_len(std::uint64_t size);
  [[nodiscard]] Attempt<Metadata> metadata();
  [[nodiscard]] Attempt<void> set_permissions(Permissions permissions);
  /// Another File that shares this one's position.
  [[nodiscard]] Attempt<File> try_clone();

  // These two don't wait for a `write` under way, and may overtake it: flush() before, if they are
  // to come after it.
  /// Completes with how many bytes were read, fewer than asked for at the end; the position stays.
  /// Dropped midway, nothing is lost. Several at a time may be under way.
  [[nodiscard]] Attempt<std::size_t> read_at(io::BufferMut buf, std::uint64_t offset) const;
  /// Completes with how many bytes were written, 2 MiB at most; the position stays. Dropped midway,
  /// they may be written or not. Several at a time may be under way.
  [[nodiscard]] Attempt<std::size_t> write_at(io::Buffer data, std::uint64_t offset) const;

 private:
  FileCore& core() const noexcept;

  std::unique_ptr<FileCore> core_;  // null: moved from
};

}  // namespace rouse::fs
