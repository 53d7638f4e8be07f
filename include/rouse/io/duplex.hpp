// duplex(n): two connected streams in memory; each reads what the other writes. For tests, and
// between tasks.
//
//   auto [client, server] = io::duplex(4096);
//
// Threads: the ends may be used on different threads, each by one reader and one writer at a time.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "rouse/base/shape.hpp"
#include "rouse/io/is_full_duplex.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/simplex.hpp"
#include "rouse/io/write.hpp"

namespace rouse::io {

/// One end. When the other is dropped, this one reads the bytes in transit and then end of file,
/// and its writes fail with std::errc::broken_pipe. `shutdown` ends one direction only.
class DuplexStream : public ReadMembers<DuplexStream>, public WriteMembers<DuplexStream> {
 public:
  DuplexStream(SimplexReader reader, SimplexWriter writer) noexcept
      : reader_(std::move(reader)), writer_(std::move(writer)) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    return reader_.poll_read(cx, buf);
  }
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    return writer_.poll_write(cx, data);
  }
  Poll<Result<void>> poll_flush(Context& cx) { return writer_.poll_flush(cx); }
  Poll<Result<void>> poll_shutdown(Context& cx) { return writer_.poll_shutdown(cx); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(DuplexStream, "duplex", notify, &DuplexStream::reader_, &DuplexStream::writer_)

 private:
  SimplexReader reader_;
  SimplexWriter writer_;
};

template <>
inline constexpr bool is_full_duplex<DuplexStream> = true;

/// Two ends; each direction holds `capacity` bytes, at least one.
[[nodiscard]] inline std::pair<DuplexStream, DuplexStream> duplex(std::size_t capacity) {
  auto [left_reader, right_writer] = simplex(capacity);
  auto [right_reader, left_writer] = simplex(capacity);
  return std::pair<DuplexStream, DuplexStream>(
      DuplexStream(std::move(left_reader), std::move(left_writer)),
      DuplexStream(std::move(right_reader), std::move(right_writer)));
}

}  // namespace rouse::io
