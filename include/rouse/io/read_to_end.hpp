// ReadToEnd, ReadToString: all that a reader gives until its end.
//
// A peer that never stops must not use up the memory: there is always a limit.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/attributes.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/byte_container.hpp"
#include "rouse/io/error.hpp"

namespace rouse::io {

/// What read_to_end and read_to_string read at most unless told otherwise.
inline constexpr std::size_t default_read_limit = std::size_t{1} << 30;

/// Appends what it reads to a container, which between polls holds that and nothing more.
class ReadingToEnd {
 public:
  explicit ReadingToEnd(std::size_t limit) noexcept : limit_(limit) {}

  template <class R, class C>
  Poll<Result<std::size_t>> poll(Context& cx, R& reader, C& out) {
    for (Growing<C> growing(out);;) {
      std::array<std::byte, 1> probe;
      const bool at_limit = read_ == limit_;
      const std::span<std::byte> room =
          at_limit ? std::span<std::byte>(probe) : growing.room(limit_ - read_);
      const Poll<Result<std::size_t>> polled = reader.poll_read(cx, room);
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return polled;
      if (*n == 0) return Poll<Result<std::size_t>>::ready(read_);
      if (at_limit) return Poll<Result<std::size_t>>::ready(Error::too_long);
      ROUSE_ASSERT(*n <= room.size(), "poll_read says it read more than the buffer holds");
      growing.add(*n);
      read_ += *n;
    }
  }

 private:
  /// The container while it has room behind its content.
  template <class C>
  class Growing {
   public:
    explicit Growing(C& out) noexcept : out_(out), filled_(out.size()) {}
    Growing(const Growing&) = delete;
    Growing& operator=(const Growing&) = delete;
    ~Growing() { out_.resize(filled_); }

    [[nodiscard]] std::span<std::byte> room(std::size_t most) {
      if (filled_ == out_.size()) out_.resize(filled_ + step());
      return BufferMut(out_.data() + filled_, std::min(out_.size() - filled_, most));
    }
    void add(std::size_t n) noexcept { filled_ += n; }

   private:
    /// What is there already if it is enough, else so much that the container grows by doubling.
    [[nodiscard]] std::size_t step() const noexcept {
      constexpr std::size_t least = 512;
      constexpr std::size_t most = 64 * 1024;
      const std::size_t spare = out_.capacity() - filled_;
      return std::clamp(spare, least, most);
    }
    C& out_;
    std::size_t filled_;
  };

  std::size_t limit_;
  std::size_t read_ = 0;
};

/// Completes at the end of the stream with how many bytes were appended to the container. Dropped
/// midway, what was read is in the container: another call goes on from there, with a new limit.
/// Errors: Error::too_long if there are more than `limit` bytes, of which the first `limit` are
/// then in the container and one more is lost; the reader's.
template <class R, class C>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] ReadToEnd
    : public Fallible<ReadToEnd<R, C>, std::size_t> {
 public:
  ReadToEnd(R& reader, C& out, std::size_t limit) noexcept
      : reader_(reader), out_(out), reading_(limit) {}

  Poll<Result<std::size_t>> poll_result(Context& cx) { return reading_.poll(cx, reader_, out_); }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  R& reader_;
  C& out_;
  ReadingToEnd reading_;
};

template <AsyncRead R, ByteContainer C>
ReadToEnd<R, C> read_to_end(R& reader ROUSE_LIFETIMEBOUND, C& out ROUSE_LIFETIMEBOUND,
                            std::size_t limit = default_read_limit) {
  return ReadToEnd<R, C>(reader, out, limit);
}

/// Completes at the end of the stream with all of it, whatever the bytes are: nobody looks for
/// UTF-8. Not cancel safe: dropped midway, what was read is lost. Errors: as read_to_end.
template <class R>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] ReadToString
    : public Fallible<ReadToString<R>, std::string> {
 public:
  ReadToString(R& reader, std::size_t limit) noexcept : reader_(reader), reading_(limit) {}

  Poll<Result<std::string>> poll_result(Context& cx) {
    const Poll<Result<std::size_t>> polled = reading_.poll(cx, reader_, text_);
    if (polled.is_pending()) return pending;
    if (!polled.value()) return Poll<Result<std::string>>::ready(polled.value().error());
    return Poll<Result<std::string>>::ready(std::move(text_));
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  R& reader_;
  std::string text_;
  ReadingToEnd reading_;
};

template <AsyncRead R>
ReadToString<R> read_to_string(R& reader ROUSE_LIFETIMEBOUND,
                               std::size_t limit = default_read_limit) {
  return ReadToString<R>(reader, limit);
}

}  // namespace rouse::io
