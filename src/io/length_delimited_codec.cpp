#include "rouse/io/length_delimited.hpp"

#include <algorithm>

#include "rouse/base/assert.hpp"
#include "rouse/io/byte_container.hpp"
#include "rouse/io/error.hpp"

namespace rouse::io {

LengthDelimited& LengthDelimited::head_bytes(std::size_t count) {
  ROUSE_ASSERT(count == 1 || count == 2 || count == 4 || count == 8,
               "LengthDelimited: a length has 1, 2, 4 or 8 bytes");
  head_bytes_ = count;
  return *this;
}

std::uint64_t LengthDelimited::read_length(std::span<const std::byte> head) const noexcept {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < head.size(); ++i) {
    const std::byte next = little_endian_ ? head[head.size() - 1 - i] : head[i];
    length = (length << 8U) | static_cast<std::uint64_t>(next);
  }
  return length;
}

std::uint64_t LengthDelimited::longest() const noexcept {
  const std::uint64_t all_ones = UINT64_MAX >> (64 - 8 * head_bytes_);
  return std::min<std::uint64_t>(all_ones, max_frame_);
}

Result<std::optional<LengthDelimited::Frame>> LengthDelimited::decode(FrameBuffer& input) {
  const std::span<const std::byte> bytes = input.bytes();
  if (bytes.size() < head_bytes_) return std::optional<Frame>();
  const std::uint64_t length = read_length(bytes.first(head_bytes_));
  if (length > max_frame_) return make_error_code(Error::too_long);
  const std::span<const std::byte> rest = bytes.subspan(head_bytes_);
  if (rest.size() < length) return std::optional<Frame>();
  const auto content = rest.first(static_cast<std::size_t>(length));
  std::optional<Frame> frame(std::in_place, content.begin(), content.end());
  input.consume(head_bytes_ + content.size());
  return frame;
}

Result<std::optional<LengthDelimited::Frame>> LengthDelimited::decode_end(FrameBuffer& input) {
  Result<std::optional<Frame>> frame = decode(input);
  if (!frame || *frame || input.empty()) return frame;
  return make_error_code(Error::unexpected_end);
}

Result<void> LengthDelimited::encode(const Buffer& frame, std::vector<std::byte>& output) {
  if (frame.size() > longest()) return make_error_code(Error::too_long);
  // Room for all at once, so that what throws adds nothing; and twice as much as before at least.
  const std::size_t needed = output.size() + head_bytes_ + frame.size();
  if (needed > output.capacity()) output.reserve(std::max(needed, 2 * output.capacity()));
  for (std::size_t i = 0; i < head_bytes_; ++i) {
    const std::size_t place = little_endian_ ? i : head_bytes_ - 1 - i;
    output.push_back(static_cast<std::byte>(std::uint64_t{frame.size()} >> (8 * place)));
  }
  append_bytes(output, frame);
  return {};
}

}  // namespace rouse::io
