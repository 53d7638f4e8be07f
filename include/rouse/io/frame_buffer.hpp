// FrameBuffer: bytes that were read and are not yet a frame. Filled at its end, taken from at its
// front. It grows with what has arrived, never with what a peer only announces, and after a large
// frame it is small again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "rouse/base/assert.hpp"

namespace rouse::io {

class FrameBuffer {
 public:
  FrameBuffer() noexcept = default;

  /// What is there and was not taken.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return std::span<const std::byte>(buf_).subspan(begin_, end_ - begin_);
  }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }

  /// Takes so many bytes away from the front.
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
  /// So many bytes were read into the room.
  void add(std::size_t n) noexcept {
    ROUSE_ASSERT(n <= buf_.size() - end_, "poll_read says it read more than the buffer holds");
    end_ += n;
  }

 private:
  static constexpr std::size_t least = std::size_t{8} * 1024;
  static constexpr std::size_t kept = std::size_t{64} * 1024;  // also when there is little in it

  void shrink() {
    std::vector<std::byte> small(std::max(least, 2 * size()));
    std::ranges::copy(bytes(), small.begin());
    end_ -= begin_;
    begin_ = 0;
    buf_.swap(small);
  }
  /// Moves what is there to the front if that makes half of the buffer free, else doubles it.
  void make_room() {
    if (begin_ != 0 && begin_ >= buf_.size() / 2) {
      std::memmove(buf_.data(), buf_.data() + begin_, size());
      end_ -= begin_;
      begin_ = 0;
      return;
    }
    buf_.resize(std::max(least, buf_.size() * 2));
  }

  std::vector<std::byte> buf_;  // [begin_, end_) was read; the rest is room
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace rouse::io
