// RecordCursor: the buffers of a vectored write, as what goes into one record after another. Small
// ones share a record: each costs 22 bytes and a run of the cipher.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "rouse/io/buffer.hpp"

namespace rouse::internal {

class RecordCursor {
 public:
  explicit RecordCursor(std::span<const io::Buffer> bufs) noexcept : left_(bufs) { skip_empty(); }

  [[nodiscard]] bool is_done() const noexcept { return left_.empty(); }
  /// Valid until the next call.
  [[nodiscard]] std::span<const std::byte> next() noexcept {
    const std::span<const std::byte> first = first_left();
    if (left_.size() == 1 || first.size() >= gathered_.size())
      return first.first(std::min(first.size(), record_size));
    std::size_t size = 0;
    std::size_t begin = offset_;
    for (const io::Buffer& buf : left_) {
      const std::size_t n = std::min(buf.size() - begin, gathered_.size() - size);
      if (n != 0) std::memcpy(gathered_.data() + size, buf.data() + begin, n);
      size += n;
      begin = 0;
    }
    return std::span(gathered_).first(size);
  }
  void advance(std::size_t n) noexcept {
    while (n != 0) {
      const std::size_t part = std::min(n, first_left().size());
      offset_ += part;
      n -= part;
      skip_empty();
    }
  }

 private:
  /// What a record holds.
  static constexpr std::size_t record_size = std::size_t{16} * 1024;

  [[nodiscard]] std::span<const std::byte> first_left() const noexcept {
    return std::span<const std::byte>(left_.front()).subspan(offset_);
  }
  void skip_empty() noexcept {
    while (!left_.empty() && left_.front().size() == offset_) {
      left_ = left_.subspan(1);
      offset_ = 0;
    }
  }

  std::span<const io::Buffer> left_;
  std::size_t offset_ = 0;  // in the first of them
  std::array<std::byte, 4096> gathered_;
};

}  // namespace rouse::internal
