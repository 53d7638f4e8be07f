// ReadToEnd, ReadToString: all bytes of a reader until end of file.
//
// There is always a limit: a peer that never stops must not use up the memory.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/byte_container.hpp"
#include "rouse/io/error.hpp"

namespace rouse::io {

/// The default limit of read_to_end and read_to_string.
inline constexpr std::size_t default_read_limit = std::size_t{1} << 30;

}  // namespace rouse::io

namespace rouse::internal {

/// The container while it has spare room at its end.
template <class C>
class GrowingBytes {
 public:
  explicit GrowingBytes(C& out) noexcept : out_(out), filled_(out.size()) {}
  GrowingBytes(const GrowingBytes&) = delete;
  GrowingBytes& operator=(const GrowingBytes&) = delete;
  ~GrowingBytes() { out_.resize(filled_); }

  [[nodiscard]] std::span<std::byte> room(std::size_t most) {
    if (filled_ == out_.size()) out_.resize(filled_ + step());
    const std::size_t left = out_.size() - filled_;
    return io::BufferMut(out_.data() + filled_, left < most ? left : most);
  }
  void add(std::size_t n) noexcept { filled_ += n; }

 private:
  /// The spare room if it is enough, otherwise so much that the container grows by doubling.
  [[nodiscard]] std::size_t step() const noexcept {
    constexpr std::size_t least = 512;
    constexpr std::size_t most = 64 * 1024;
    const std::size_t spare = out_.capacity() - filled_;
    if (spare < least) return least;
    return spare < most ? spare : most;
  }
  C& out_;
  std::size_t filled_;
};

/// Appends to a container, which between polls holds exactly what was read.
class ReadingToEnd {
 public:
  explicit ReadingToEnd(std::size_t limit) noexcept : limit_(limit) {}

  template <class R, class C>
  Poll<Result<std::size_t>> poll(Context& cx, R& reader, C& out) {
    for (GrowingBytes<C> growing(out);;) {
      std::array<std::byte, 1> probe;
      const bool at_limit = read_ == limit_;
      const std::span<std::byte> room =
          at_limit ? std::span<std::byte>(probe) : growing.room(limit_ - read_);
      const Poll<Result<std::size_t>> polled = reader.poll_read(cx, room);
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return polled;
      if (*n == 0) return Poll<Result<std::size_t>>::ready(read_);
      if (at_limit) return Poll<Result<std::size_t>>::ready(io::Error::too_long);
      ROUSE_ASSERT(*n <= room.size(), "poll_read says it read more than the buffer holds");
      growing.add(*n);
      read_ += *n;
    }
  }

 private:
  std::size_t limit_;
  std::size_t read_ = 0;
};

}  // namespace rouse::internal

namespace rouse::io {

/// Completes at end of file with how many bytes were appended to the container.
/// Cancel safety: dropping it loses nothing: what was read is in the container, and another call
/// continues there, with a new limit.
/// Errors: Error::too_long if there are more than `limit` bytes: then the first `limit` are in the
/// container and one more is lost; the reader's.
template <class R, class C>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] ReadToEnd
    : public ResultFuture<ReadToEnd<R, C>, std::size_t> {
 public:
  ReadToEnd(R& reader, C& out, std::size_t limit) noexcept
      : reader_(&reader), out_(out), reading_(limit) {}

  Poll<Result<std::size_t>> poll_result(Context& cx) { return reading_.poll(cx, *reader_, out_); }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ReadToEnd, "read_to_end", one, &ReadToEnd::reader_)

 private:
  R* reader_;
  C& out_;
  internal::ReadingToEnd reading_;
};

template <AsyncRead R, ByteContainer C>
ReadToEnd<R, C> read_to_end(R& reader ROUSE_LIFETIMEBOUND, C& out ROUSE_LIFETIMEBOUND,
                            std::size_t limit = default_read_limit) {
  return ReadToEnd<R, C>(reader, out, limit);
}

/// Completes at end of file with all bytes, whatever they are: UTF-8 is not checked.
/// Cancel safety: not safe; what was read is lost.
/// Errors: as read_to_end.
template <class R>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] ReadToString
    : public ResultFuture<ReadToString<R>, std::string> {
 public:
  ReadToString(R& reader, std::size_t limit) noexcept : reader_(&reader), reading_(limit) {}

  Poll<Result<std::string>> poll_result(Context& cx) {
    const Poll<Result<std::size_t>> polled = reading_.poll(cx, *reader_, text_);
    if (polled.is_pending()) return pending;
    if (!polled.value()) return Poll<Result<std::string>>::ready(polled.value().error());
    return Poll<Result<std::string>>::ready(std::move(text_));
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ReadToString, "read_to_string", one, &ReadToString::reader_)

 private:
  R* reader_;
  std::string text_;
  internal::ReadingToEnd reading_;
};

template <AsyncRead R>
ReadToString<R> read_to_string(R& reader ROUSE_LIFETIMEBOUND,
                               std::size_t limit = default_read_limit) {
  return ReadToString<R>(reader, limit);
}

}  // namespace rouse::io
