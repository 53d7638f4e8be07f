// empty(), repeat(byte), sink(): a reader at end of file, one that never ends, a writer that
// discards everything.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "rouse/base/shape.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"

namespace rouse::io {

/// Always at end of file.
class Empty : public ReadMembers<Empty> {
 public:
  Empty() noexcept = default;
  Poll<Result<std::size_t>> poll_read(Context&, std::span<std::byte>) {
    return Poll<Result<std::size_t>>::ready(std::size_t{0});
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Empty, nullptr, one)
};

/// Repeats one byte forever.
class Repeat : public ReadMembers<Repeat> {
 public:
  explicit Repeat(std::byte byte) noexcept : byte_(byte) {}
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    if (!cx.take_budget()) return pending;
    if (!buf.empty()) std::memset(buf.data(), static_cast<int>(byte_), buf.size());
    return Poll<Result<std::size_t>>::ready(buf.size());
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Repeat, nullptr, one)

 private:
  std::byte byte_;
};

/// Accepts and discards everything.
class Sink : public WriteMembers<Sink> {
 public:
  Sink() noexcept = default;
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    if (!cx.take_budget()) return pending;
    return Poll<Result<std::size_t>>::ready(data.size());
  }
  Poll<Result<void>> poll_flush(Context&) { return Poll<Result<void>>::ready(Result<void>()); }
  Poll<Result<void>> poll_shutdown(Context&) { return Poll<Result<void>>::ready(Result<void>()); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Sink, nullptr, one)
};

[[nodiscard]] inline Empty empty() noexcept { return Empty(); }
[[nodiscard]] inline Repeat repeat(std::byte byte) noexcept { return Repeat(byte); }
[[nodiscard]] inline Sink sink() noexcept { return Sink(); }

}  // namespace rouse::io
