// Buffers as the kernel wants them.
#pragma once

#include <algorithm>
#include <span>
#include <sys/uio.h>

#include "rouse/io/buffer.hpp"

namespace rouse::sys {

class Iovecs {
 public:
  static constexpr std::size_t max = 64;
  template <class B>
  explicit Iovecs(std::span<const B> buffers) noexcept : size_(std::min(buffers.size(), max)) {
    for (std::size_t i = 0; i < size_; ++i) {
      items_[i] = {.iov_base = const_cast<std::byte*>(buffers[i].data()),
                   .iov_len = buffers[i].size()};
    }
  }
  iovec* data() noexcept { return items_; }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(size_); }

 private:
  std::size_t size_;
  iovec items_[max];
};

}  // namespace rouse::sys
