// empty(), repeat(byte), sink(): a reader that has nothing, one that never ends, a writer that
// forgets.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"

namespace rouse::io {

/// Is at its end.
class Empty : public ReadMembers<Empty> {
 public:
  Empty() noexcept = default;
  Poll<Result<std::size_t>> poll_read(Context&, std::span<std::byte>) {
    return Poll<Result<std::size_t>>::ready(std::size_t{0});
  }
};

/// Gives one byte again and again, without an end.
class Repeat : public ReadMembers<Repeat> {
 public:
  explicit Repeat(std::byte byte) noexcept : byte_(byte) {}
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    if (!cx.take_budget()) return pending;
    if (!buf.empty()) std::memset(buf.data(), static_cast<int>(byte_), buf.size());
    return Poll<Result<std::size_t>>::ready(buf.size());
  }

 private:
  std::byte byte_;
};

/// Takes everything.
class Sink : public WriteMembers<Sink> {
 public:
  Sink() noexcept = default;
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    if (!cx.take_budget()) return pending;
    return Poll<Result<std::size_t>>::ready(data.size());
  }
  Poll<Result<void>> poll_flush(Context&) { return Poll<Result<void>>::ready(Result<void>()); }
  Poll<Result<void>> poll_shutdown(Context&) { return Poll<Result<void>>::ready(Result<void>()); }
};

[[nodiscard]] inline Empty empty() noexcept { return Empty(); }
[[nodiscard]] inline Repeat repeat(std::byte byte) noexcept { return Repeat(byte); }
[[nodiscard]] inline Sink sink() noexcept { return Sink(); }

}  // namespace rouse::io
