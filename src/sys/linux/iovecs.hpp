// Buffers as the kernel wants them.
#pragma once

#include <cstddef>
#include <span>
#include <sys/uio.h>

#include "rouse/io/buffer.hpp"

#include "sys/socket.hpp"

namespace rouse::sys {

/// The first ones that are not empty: of empty ones alone a call would give 0, as at the end.
class Iovecs {
 public:
  template <class B>
  explicit Iovecs(std::span<const B> buffers) noexcept {
    for (const B& buffer : buffers) {
      if (buffer.empty()) continue;
      if (size_ == max_buffers) break;
      items_[size_++] = {.iov_base = const_cast<std::byte*>(buffer.data()),
                         .iov_len = buffer.size()};
    }
  }
  iovec* data() noexcept { return items_; }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(size_); }

 private:
  std::size_t size_ = 0;
  iovec items_[max_buffers];
};

}  // namespace rouse::sys
