// FileCore: the state of an File. At most one operation is in progress, on a blocking thread;
// it has a buffer, and shares the file, so that it can finish alone when the File is gone. A write
// is mandatory: it is carried out even if the runtime ends before it begins.
//
// The buffer may hold bytes that were read and not taken yet: the position of the File is that many
// bytes before that of the system's file. A write or a seek first goes back, and drops these bytes
// only when that has succeeded: an operation that fails, or a file without a position (a FIFO),
// loses no byte. An error of a write stays here until a write, a flush or a sync takes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/fs/file.hpp"

#include "sys/file.hpp"

namespace rouse::internal {

/// Memory that is kept from operation to operation, and the part of it that is filled.
class FileBuffer {
 public:
  FileBuffer() noexcept = default;
  FileBuffer(FileBuffer&& other) noexcept;
  FileBuffer& operator=(FileBuffer&& other) noexcept;

  [[nodiscard]] std::span<const std::byte> filled() const noexcept {
    return {memory_.get() + begin_, end_ - begin_};
  }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  void clear() noexcept { begin_ = end_ = 0; }
  /// Empties it and gives room for `size` bytes; `set_filled` then says how many there are.
  std::span<std::byte> make_room(std::size_t size);
  void set_filled(std::size_t size) noexcept { end_ = size; }
  /// Moves as many bytes as fit to `out`.
  std::size_t take(std::span<std::byte> out) noexcept;

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

class FileCore {
 public:
  static constexpr std::size_t most_at_once = std::size_t{2} << 20U;

  explicit FileCore(sys::File file);
  /// One more descriptor of the same open file.
  FileCore(sys::File file, std::shared_ptr<sys::FileLockState> lock_state);

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf);
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data);
  Poll<Result<void>> poll_flush(Context& cx);
  /// Ready when nothing is under way.
  Poll<> poll_idle(Context& cx);

  // While nothing is under way.
  void start_seek(fs::SeekFrom to);
  [[nodiscard]] Result<void> take_write_error() noexcept;

  /// The outcome of a seek that was started.
  Poll<Result<std::uint64_t>> poll_seek(Context& cx);
  /// The same; without a seek, any position when nothing is under way.
  Poll<Result<std::uint64_t>> poll_complete(Context& cx);

  [[nodiscard]] const std::shared_ptr<const sys::File>& file() const noexcept { return file_; }
  /// Gives the descriptor up: itself, or another one if a call that nobody waits for still has it.
  Result<io::OwnedFd> release() noexcept;
  [[nodiscard]] const std::shared_ptr<sys::FileLockState>& lock_state() const noexcept {
    return lock_state_;
  }

 private:
  enum class Operation : std::uint8_t { none, read, write, seek };
  /// What an operation gives back.
  struct Ended {
    FileBuffer buffer = {};      // the memory it was lent, and what a read has read
    std::uint64_t position = 0;  // of a seek
    bool moved = false;          // the system's position: what was read ahead is void
    std::error_code error = {};
  };

  void start_read(std::size_t size);
  /// False: it was refused, and poll_operation says at once why.
  bool start_write(std::span<const std::byte> data);
  static Ended read_into(const sys::File& file, FileBuffer buffer, std::size_t size);
  static Ended go_back_and_write(const sys::File& file, std::size_t unread, FileBuffer buffer);
  Poll<Result<std::uint64_t>> poll_operation(Context& cx);

  std::shared_ptr<const sys::File> file_;
  std::shared_ptr<sys::FileLockState> lock_state_;  // one for all of try_clone
  FileBuffer buffer_;                               // empty while a read has it
  Operation operation_ = Operation::none;
  std::optional<JoinHandle<Result<Ended>>> call_;  // while there is an operation
  std::error_code write_error_;
};

/// `FileCore::poll_idle` and others, to be awaited in the coroutines of File.
template <class T>
class FilePoll {
 public:
  using Output = T;
  using Function = Poll<T> (FileCore::*)(Context&);

  FilePoll(FileCore& core, Function function) noexcept : core_(core), function_(function) {}
  Poll<T> poll(Context& cx) { return (core_.*function_)(cx); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(FilePoll, "file", blocking)

 private:
  FileCore& core_;
  Function function_;
};

}  // namespace rouse::internal
