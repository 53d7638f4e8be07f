#include "fs/file_core.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "rouse/base/atomic.hpp"

#include "exec/blocking/call_blocking.hpp"
#include "sys/fd.hpp"

namespace rouse::internal {

FileBuffer::FileBuffer(FileBuffer&& other) noexcept { *this = std::move(other); }

FileBuffer& FileBuffer::operator=(FileBuffer&& other) noexcept {
  memory_ = std::move(other.memory_);
  capacity_ = std::exchange(other.capacity_, 0);
  begin_ = std::exchange(other.begin_, 0);
  end_ = std::exchange(other.end_, 0);
  return *this;
}

std::span<std::byte> FileBuffer::make_room(std::size_t size) {
  if (size > capacity_) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(size);
    capacity_ = size;
  }
  clear();
  return {memory_.get(), size};
}

std::size_t FileBuffer::take(std::span<std::byte> out) noexcept {
  const std::size_t count = std::min(out.size(), size());
  if (count != 0) std::memcpy(out.data(), memory_.get() + begin_, count);
  begin_ += count;
  return count;
}

FileCore::FileCore(sys::File file)
    : FileCore(std::move(file), std::make_shared<sys::FileLockState>()) {}
FileCore::FileCore(sys::File file, std::shared_ptr<sys::FileLockState> lock_state)
    : file_(std::make_shared<const sys::File>(std::move(file))),
      lock_state_(std::move(lock_state)) {}

Result<io::OwnedFd> FileCore::release() noexcept {
  if (file_.use_count() != 1) return sys::duplicate(file_->descriptor());
  // ORDER: acquire; sees the end of the calls that had it, each of which has dropped its reference.
  fence(memory_order_acquire);
  return io::OwnedFd(file_->release());
}

// --- Operations. ---

void FileCore::start_read(std::size_t size) {
  call_.emplace(spawn_blocking([file = file_, size, buffer = std::move(buffer_)]() mutable {
    return Result<Ended>(read_into(*file, std::move(buffer), size));
  }));
  operation_ = Operation::read;
}

FileCore::Ended FileCore::read_into(const sys::File& file, FileBuffer buffer, std::size_t size) {
  const auto read = file.read(buffer.make_room(size));
  if (!read) return Ended{.buffer = std::move(buffer), .error = read.error()};
  buffer.set_filled(*read);
  return Ended{.buffer = std::move(buffer)};
}

/// Bytes read ahead stay here until it is known that the position could go back: in a FIFO it
/// can't, and need not.
bool FileCore::start_write(std::span<const std::byte> data) {
  const std::size_t unread = buffer_.size();
  FileBuffer buffer = unread == 0 ? std::move(buffer_) : FileBuffer();
  std::memcpy(buffer.make_room(data.size()).data(), data.data(), data.size());
  buffer.set_filled(data.size());
  auto call = spawn_mandatory([file = file_, unread, buffer = std::move(buffer)]() mutable {
    return Result<Ended>(go_back_and_write(*file, unread, std::move(buffer)));
  });
  call_.emplace(std::move(call.handle));
  operation_ = Operation::write;
  return call.is_taken;
}

FileCore::Ended FileCore::go_back_and_write(const sys::File& file, std::size_t unread,
                                            FileBuffer buffer) {
  bool moved = false;
  if (unread != 0) {
    const auto back = file.seek(-static_cast<std::int64_t>(unread), sys::SeekBase::current);
    moved = back.has_value();
    if (!back && back.error() != std::errc::invalid_seek) return Ended{.error = back.error()};
  }
  const auto written = file.write_all(buffer.filled());
  buffer.clear();
  return Ended{.buffer = std::move(buffer),
               .moved = moved,
               .error = written ? std::error_code() : written.error()};
}

/// Bytes read ahead stay here until the seek has succeeded.
void FileCore::start_seek(fs::SeekFrom to) {
  ROUSE_ASSERT(operation_ == Operation::none, "a seek was started in the midst of an operation");
  const bool is_relative = to.base() == fs::SeekFrom::Base::current;
  const auto back = is_relative ? static_cast<std::int64_t>(buffer_.size()) : 0;
  call_.emplace(spawn_blocking([file = file_, to, back]() -> Result<Ended> {
    std::int64_t offset = 0;
    if (__builtin_sub_overflow(to.offset(), back, &offset)) return std::errc::invalid_argument;
    const auto position = file->seek(offset, static_cast<sys::SeekBase>(to.base()));
    if (!position) return position.error();
    return Ended{.position = *position, .moved = true};
  }));
  operation_ = Operation::seek;
}

/// The result of the operation in progress, with the position of a seek. Afterwards, even if this
/// throws, there is none.
Poll<Result<std::uint64_t>> FileCore::poll_operation(Context& cx) {
  using Polled = Poll<Result<std::uint64_t>>;
  // Until it is known to be pending it has ended, in whichever way.
  std::optional<JoinHandle<Result<Ended>>> call = std::exchange(call_, std::nullopt);
  const Operation operation = std::exchange(operation_, Operation::none);
  auto polled = poll_blocking(*call, cx);
  if (polled.is_pending()) {
    call_ = std::move(call);
    operation_ = operation;
    return pending;
  }
  Result<Ended>& result = polled.value();
  Ended ended = result ? *std::move(result) : Ended{.error = result.error()};
  if (ended.moved) buffer_.clear();
  if (operation != Operation::seek && buffer_.size() == 0) buffer_ = std::move(ended.buffer);
  if (!ended.error) return Polled::ready(Result<std::uint64_t>(ended.position));
  if (operation == Operation::write) write_error_ = ended.error;
  return Polled::ready(Result<std::uint64_t>(ended.error));
}

// --- What a File does. ---

Poll<Result<std::size_t>> FileCore::poll_read(Context& cx, std::span<std::byte> buf) {
  using Polled = Poll<Result<std::size_t>>;
  if (buf.empty()) return Polled::ready(Result<std::size_t>(std::size_t{0}));
  for (;;) {
    if (operation_ == Operation::none && buffer_.size() != 0) {
      if (!cx.take_budget()) return pending;
      return Polled::ready(Result<std::size_t>(buffer_.take(buf)));
    }
    if (operation_ == Operation::none) start_read(std::min(buf.size(), most_at_once));
    const Operation operation = operation_;
    const auto ended = poll_operation(cx);
    if (ended.is_pending()) return pending;
    if (operation != Operation::read) continue;
    if (!ended.value()) return Polled::ready(Result<std::size_t>(ended.value().error()));
    if (buffer_.size() == 0) return Polled::ready(Result<std::size_t>(std::size_t{0}));
  }
}

Poll<Result<std::size_t>> FileCore::poll_write(Context& cx, std::span<const std::byte> data) {
  using Polled = Poll<Result<std::size_t>>;
  if (poll_idle(cx).is_pending()) return pending;
  if (const Result<void> before = take_write_error(); !before) {
    return Polled::ready(Result<std::size_t>(before.error()));
  }
  if (!cx.take_budget()) return pending;
  const auto part = data.first(std::min(data.size(), most_at_once));
  if (!part.empty() && !start_write(part)) {
    // The runtime has ended, or there is no thread: nothing was taken.
    if (poll_operation(cx).is_pending()) return pending;
    return Polled::ready(Result<std::size_t>(std::exchange(write_error_, std::error_code())));
  }
  return Polled::ready(Result<std::size_t>(part.size()));
}

Poll<Result<void>> FileCore::poll_flush(Context& cx) {
  if (poll_idle(cx).is_pending()) return pending;
  return Poll<Result<void>>::ready(take_write_error());
}

Poll<> FileCore::poll_idle(Context& cx) {
  if (operation_ != Operation::none && poll_operation(cx).is_pending()) return pending;
  return Poll<>::ready();
}

Poll<Result<std::uint64_t>> FileCore::poll_seek(Context& cx) {
  ROUSE_ASSERT(operation_ == Operation::seek,
               "a File was used by two tasks at once, while it seeks");
  return poll_operation(cx);
}

Poll<Result<std::uint64_t>> FileCore::poll_complete(Context& cx) {
  if (operation_ == Operation::seek) return poll_operation(cx);
  if (poll_idle(cx).is_pending()) return pending;
  return Poll<Result<std::uint64_t>>::ready(Result<std::uint64_t>(std::uint64_t{0}));
}

Result<void> FileCore::take_write_error() noexcept {
  if (!write_error_) return {};
  return std::exchange(write_error_, std::error_code());
}

}  // namespace rouse::internal
