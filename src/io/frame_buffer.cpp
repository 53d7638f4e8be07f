#include "rouse/io/frame_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace rouse::io {
namespace {

constexpr std::size_t least = std::size_t{8} * 1024;

}  // namespace

void FrameBuffer::shrink() {
  std::vector<std::byte> small(std::max(least, 2 * size()));
  std::ranges::copy(bytes(), small.begin());
  end_ -= begin_;
  begin_ = 0;
  buf_.swap(small);
}

void FrameBuffer::make_room() {
  if (begin_ != 0 && begin_ >= buf_.size() / 2) {
    std::memmove(buf_.data(), buf_.data() + begin_, size());
    end_ -= begin_;
    begin_ = 0;
    return;
  }
  buf_.resize(std::max(least, buf_.size() * 2));
}

}  // namespace rouse::io
