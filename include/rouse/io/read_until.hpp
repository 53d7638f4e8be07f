// ReadUntil: the bytes of an AsyncBufRead up to and including a delimiter: a line.
//
// There is always a limit: a peer that never ends its line must not use up the memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_buf_read.hpp"
#include "rouse/io/byte_container.hpp"
#include "rouse/io/error.hpp"

namespace rouse::io {

/// The default limit of a line.
inline constexpr std::size_t default_line_limit = std::size_t{1} << 20;

}  // namespace rouse::io

namespace rouse::internal {

/// Moves bytes from a reader to a container until the delimiter was moved.
class Delimited {
 public:
  explicit Delimited(std::size_t limit) noexcept : limit_(limit) {}

  /// Whether the delimiter was found; false at end of file.
  template <class R, class C>
  Poll<Result<bool>> poll(Context& cx, R& reader, C& out, std::byte delimiter) {
    for (;;) {
      const Poll<Result<std::span<const std::byte>>> polled = reader.poll_fill_buf(cx);
      if (polled.is_pending()) return pending;
      if (!polled.value()) return Poll<Result<bool>>::ready(polled.value().error());
      const std::span<const std::byte> got = *polled.value();
      if (got.empty()) return Poll<Result<bool>>::ready(false);
      const std::size_t before = find(got, delimiter);
      if (before > limit_ - moved_) return Poll<Result<bool>>::ready(io::Error::too_long);
      const bool found = before < got.size();
      const std::size_t n = found ? before + 1 : before;
      append_bytes(out, got.first(n));
      reader.consume(n);
      moved_ += n;
      if (found) return Poll<Result<bool>>::ready(true);
    }
  }
  /// How many bytes so far.
  [[nodiscard]] std::size_t moved() const noexcept { return moved_; }
  /// For the next delimiter.
  void start_over() noexcept { moved_ = 0; }

 private:
  static std::size_t find(std::span<const std::byte> in, std::byte wanted) noexcept {
    const void* at = std::memchr(in.data(), static_cast<int>(wanted), in.size());
    if (at == nullptr) return in.size();
    return static_cast<std::size_t>(static_cast<const std::byte*>(at) - in.data());
  }

  std::size_t limit_;
  std::size_t moved_ = 0;
};

}  // namespace rouse::internal

namespace rouse::io {

/// Completes at the delimiter or at end of file, with how many bytes were appended to the
/// container, including the delimiter; 0 if the stream had already ended.
/// Cancel safety: dropping it loses nothing: what was read is in the container, and another call
/// with it continues there, with a new limit.
/// Errors: Error::too_long if there are more than `limit` bytes before the delimiter (then some of
/// them are in the container, the rest in the reader); the reader's.
template <class R, class C>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] ReadUntil
    : public ResultFuture<ReadUntil<R, C>, std::size_t> {
 public:
  ReadUntil(R& reader, std::byte delimiter, C& out, std::size_t limit) noexcept
      : reader_(&reader), out_(out), delimited_(limit), delimiter_(delimiter) {}

  Poll<Result<std::size_t>> poll_result(Context& cx) {
    const Poll<Result<bool>> polled = delimited_.poll(cx, *reader_, out_, delimiter_);
    if (polled.is_pending()) return pending;
    if (!polled.value()) return Poll<Result<std::size_t>>::ready(polled.value().error());
    return Poll<Result<std::size_t>>::ready(delimited_.moved());
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ReadUntil, "read_until", one, &ReadUntil::reader_)

 private:
  R* reader_;
  C& out_;
  internal::Delimited delimited_;
  std::byte delimiter_;
};

template <AsyncBufRead R, ByteContainer C>
ReadUntil<R, C> read_until(R& reader ROUSE_LIFETIMEBOUND, std::byte delimiter,
                           C& out ROUSE_LIFETIMEBOUND, std::size_t limit = default_line_limit) {
  return ReadUntil<R, C>(reader, delimiter, out, limit);
}

template <AsyncBufRead R, ByteContainer C>
ReadUntil<R, C> read_until(R& reader ROUSE_LIFETIMEBOUND, char delimiter,
                           C& out ROUSE_LIFETIMEBOUND, std::size_t limit = default_line_limit) {
  return ReadUntil<R, C>(reader, static_cast<std::byte>(delimiter), out, limit);
}

/// Appends a line, including its `\n`, if it has one: see ReadUntil.
template <AsyncBufRead R>
ReadUntil<R, std::string> read_line(R& reader ROUSE_LIFETIMEBOUND,
                                    std::string& line ROUSE_LIFETIMEBOUND,
                                    std::size_t limit = default_line_limit) {
  return ReadUntil<R, std::string>(reader, std::byte{'\n'}, line, limit);
}

}  // namespace rouse::io
