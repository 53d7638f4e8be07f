// ByteQueue: bytes that are added at the end and taken at the front. Without any it has no memory:
// most connections wait most of the time.
#pragma once

#include <cstddef>
#include <span>

#include "rouse/base/internal/box.hpp"

namespace rouse::internal {

class ByteQueue {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {memory_.get() + begin_, size()};
  }

  /// Room for at least so many more. What is written there counts once it was `added`.
  [[nodiscard]] std::span<std::byte> room(std::size_t at_least);
  void added(std::size_t n) noexcept { end_ += n; }
  void append(std::span<const std::byte> data);
  void take(std::size_t n) noexcept { begin_ += n; }
  void release_if_empty() noexcept;

 private:
  Box<std::byte[]> memory_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace rouse::internal
