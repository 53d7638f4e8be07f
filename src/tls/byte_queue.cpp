#include "tls/byte_queue.hpp"

#include <algorithm>
#include <cstring>

namespace rouse::internal {

std::span<std::byte> ByteQueue::room(std::size_t at_least) {
  if (capacity_ - end_ < at_least) {
    const std::size_t held = size();
    const std::size_t wanted = held + at_least;
    // Moved within the memory only if at least half of it is free: each byte is moved once, then.
    if (wanted <= capacity_ && held <= capacity_ / 2) {
      std::memmove(memory_.get(), memory_.get() + begin_, held);
    } else {
      const std::size_t capacity = std::max(wanted, 2 * held);
      Box<std::byte[]> larger(new std::byte[capacity]);
      if (held != 0) std::memcpy(larger.get(), memory_.get() + begin_, held);
      memory_ = std::move(larger);
      capacity_ = capacity;
    }
    begin_ = 0;
    end_ = held;
  }
  return {memory_.get() + end_, capacity_ - end_};
}

void ByteQueue::append(std::span<const std::byte> data) {
  if (data.empty()) return;
  std::memcpy(room(data.size()).data(), data.data(), data.size());
  added(data.size());
}

void ByteQueue::release_if_empty() noexcept {
  if (!empty()) return;
  memory_ = Box<std::byte[]>();
  begin_ = end_ = capacity_ = 0;
}

}  // namespace rouse::internal
