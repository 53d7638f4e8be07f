// SendBuffer: bytes on their way to a writer, of BufWriter and of those who send frames.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rouse/base/assert.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/error.hpp"

namespace rouse::internal {

/// The first sent_ bytes were passed to the writer.
class SendBuffer {
 public:
  SendBuffer() noexcept = default;

  /// To add bytes at the end.
  [[nodiscard]] std::vector<std::byte>& bytes() noexcept { return bytes_; }
  /// What was not yet passed to the writer.
  [[nodiscard]] std::span<const std::byte> unsent() const noexcept {
    return std::span<const std::byte>(bytes_).subspan(sent_);
  }
  /// Whether there are fewer bytes than that. False once sending has begun: it sends all of them
  /// first; otherwise sent bytes would stay while others are added.
  [[nodiscard]] bool is_below(std::size_t size) const noexcept {
    return sent_ == 0 && bytes_.size() < size;
  }

  /// Passes everything on.
  template <class W>
  Poll<Result<void>> poll_send(Context& cx, W& writer) {
    while (sent_ < bytes_.size()) {
      const Poll<Result<std::size_t>> polled = writer.poll_write(cx, unsent());
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return Poll<Result<void>>::ready(n.error());
      if (*n == 0) return Poll<Result<void>>::ready(io::Error::write_zero);
      ROUSE_ASSERT(*n <= bytes_.size() - sent_, "poll_write says it took more than there was");
      sent_ += *n;
    }
    bytes_.clear();
    sent_ = 0;
    return Poll<Result<void>>::ready(Result<void>());
  }
  /// The same, then flushes the writer.
  template <class W>
  Poll<Result<void>> poll_flush(Context& cx, W& writer) {
    Poll<Result<void>> sent = poll_send(cx, writer);
    if (sent.is_pending() || !sent.value()) return sent;
    return writer.poll_flush(cx);
  }
  /// The same, then shuts the writer down.
  template <class W>
  Poll<Result<void>> poll_shutdown(Context& cx, W& writer) {
    Poll<Result<void>> sent = poll_send(cx, writer);
    if (sent.is_pending() || !sent.value()) return sent;
    return writer.poll_shutdown(cx);
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t sent_ = 0;
};

/// From so many bytes on, who sends frames sends them before it takes more.
inline constexpr std::size_t frames_high_water = std::size_t{8} * 1024;

}  // namespace rouse::internal
