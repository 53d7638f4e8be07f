#include "rouse/io/length_delimited_codec.hpp"

#include <algorithm>

#include "rouse/base/assert.hpp"
#include "rouse/io/byte_container.hpp"
#include "rouse/io/error.hpp"

namespace rouse::io {

using namespace internal;

LengthDelimitedCodec& LengthDelimitedCodec::length_field_offset(std::size_t bytes) noexcept {
  offset_ = bytes;
  return *this;
}
LengthDelimitedCodec& LengthDelimitedCodec::length_field_length(std::size_t bytes) {
  ROUSE_ASSERT(bytes >= 1 && bytes <= 8, "LengthDelimitedCodec: a length has 1 to 8 bytes");
  length_bytes_ = bytes;
  return *this;
}
LengthDelimitedCodec& LengthDelimitedCodec::length_adjustment(std::int64_t bytes) noexcept {
  adjustment_ = bytes;
  return *this;
}
LengthDelimitedCodec& LengthDelimitedCodec::num_skip(std::size_t bytes) noexcept {
  skip_ = bytes;
  return *this;
}
LengthDelimitedCodec& LengthDelimitedCodec::big_endian() noexcept {
  little_endian_ = false;
  return *this;
}
LengthDelimitedCodec& LengthDelimitedCodec::little_endian() noexcept {
  little_endian_ = true;
  return *this;
}
LengthDelimitedCodec& LengthDelimitedCodec::max_frame_length(std::size_t bytes) noexcept {
  max_frame_ = bytes;
  return *this;
}

std::uint64_t LengthDelimitedCodec::read_length(std::span<const std::byte> field) const noexcept {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const std::byte next = little_endian_ ? field[field.size() - 1 - i] : field[i];
    length = (length << 8U) | static_cast<std::uint64_t>(next);
  }
  return length;
}

Result<std::optional<LengthDelimitedCodec::Frame>> LengthDelimitedCodec::decode(
    FrameBuffer& input) {
  const std::span<const std::byte> bytes = input.bytes();
  if (bytes.size() < length_bytes_ || bytes.size() - length_bytes_ < offset_)
    return std::optional<Frame>();
  std::uint64_t length = read_length(bytes.subspan(offset_, length_bytes_));
  if (length > max_frame_) return make_error_code(Error::too_long);
  if (__builtin_add_overflow(length, adjustment_, &length))
    return make_error_code(Error::invalid_data);
  const std::size_t skipped = skip_.value_or(offset_ + length_bytes_);
  // It would be received again and again.
  if (skipped == 0 && length == 0) return make_error_code(Error::invalid_data);
  if (bytes.size() < skipped || bytes.size() - skipped < length) return std::optional<Frame>();
  const auto content = bytes.subspan(skipped, static_cast<std::size_t>(length));
  std::optional<Frame> frame(std::in_place, content.begin(), content.end());
  input.consume(skipped + content.size());
  return frame;
}

Result<std::optional<LengthDelimitedCodec::Frame>> LengthDelimitedCodec::decode_end(
    FrameBuffer& input) {
  Result<std::optional<Frame>> frame = decode(input);
  if (!frame || *frame || input.empty()) return frame;
  return make_error_code(Error::unexpected_eof);
}

Result<void> LengthDelimitedCodec::encode(const Buffer& frame, std::vector<std::byte>& output) {
  std::uint64_t length = frame.size();
  if (length > max_frame_) return make_error_code(Error::too_long);
  if (__builtin_sub_overflow(length, adjustment_, &length))
    return make_error_code(Error::invalid_data);
  if (length > UINT64_MAX >> (64 - 8 * length_bytes_)) return make_error_code(Error::too_long);
  // Room for all at once, so that what throws adds nothing; and twice as much as before at least.
  const std::size_t needed = output.size() + length_bytes_ + frame.size();
  if (needed > output.capacity()) output.reserve(std::max(needed, 2 * output.capacity()));
  for (std::size_t i = 0; i < length_bytes_; ++i) {
    const std::size_t place = little_endian_ ? i : length_bytes_ - 1 - i;
    output.push_back(static_cast<std::byte>(length >> (8 * place)));
  }
  internal::append_bytes(output, frame);
  return {};
}

}  // namespace rouse::io
