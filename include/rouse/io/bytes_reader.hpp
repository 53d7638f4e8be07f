// BytesReader: reads bytes that are already in memory: a test's input, a received message.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "rouse/base/assert.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/io/async_buf_read.hpp"
#include "rouse/io/lines.hpp"
#include "rouse/io/read.hpp"

namespace rouse::io {

/// Borrows the bytes. Never waits, except when the task's budget is used up.
class BytesReader : public ReadMembers<BytesReader>, public BufReadMembers<BytesReader> {
 public:
  explicit BytesReader(Buffer bytes) noexcept : rest_(bytes) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    if (!cx.take_budget()) return pending;
    const std::size_t n = buf.size() < rest_.size() ? buf.size() : rest_.size();
    if (n != 0) std::memcpy(buf.data(), rest_.data(), n);
    rest_ = rest_.subspan(n);
    return Poll<Result<std::size_t>>::ready(n);
  }
  Poll<Result<std::span<const std::byte>>> poll_fill_buf(Context& cx) {
    if (!cx.take_budget()) return pending;
    return Poll<Result<std::span<const std::byte>>>::ready(rest_);
  }
  void consume(std::size_t n) noexcept {
    ROUSE_ASSERT(n <= rest_.size(), "consume() of more than poll_fill_buf gave");
    rest_ = rest_.subspan(n);
  }

  /// What was not read yet.
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(BytesReader, nullptr, one)

 private:
  std::span<const std::byte> rest_;
};

}  // namespace rouse::io
