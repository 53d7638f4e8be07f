// FrameBuffer: bytes that were read and are not yet a frame. Filled at the end, consumed at the
// front. It grows with what has arrived, never with what a peer only announces, and shrinks after a
// large frame.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"

namespace rouse::io {

class ROUSE_API FrameBuffer {
 public:
  FrameBuffer() noexcept = default;

  /// The bytes that were not consumed.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return std::span<const std::byte>(buf_).subspan(begin_, end_ - begin_);
  }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }

  /// Removes this many bytes from the front.
  void consume(std::size_t n) noexcept {
    ROUSE_ASSERT(n <= size(), "consume() of more than there is in the buffer");
    begin_ += n;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  /// Room to read into: at least a byte, more as the buffer grows.
  [[nodiscard]] std::span<std::byte> room() {
    if (buf_.size() > kept && size() <= kept / 2) shrink();
    if (end_ == buf_.size()) make_room();
    return std::span<std::byte>(buf_).subspan(end_);
  }
  /// This many bytes were read into the room.
  void add(std::size_t n) noexcept {
    ROUSE_ASSERT(n <= buf_.size() - end_, "poll_read says it read more than the buffer holds");
    end_ += n;
  }

 private:
  static constexpr std::size_t kept = std::size_t{64} * 1024;  // kept even when it is nearly empty

  void shrink();
  /// Moves the content to the front if that frees half of the buffer, otherwise doubles it.
  void make_room();

  std::vector<std::byte> buf_;  // [begin_, end_) was read; the rest is room
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace rouse::io
