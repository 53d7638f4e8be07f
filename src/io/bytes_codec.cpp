#include "rouse/io/bytes_codec.hpp"

#include <span>

#include "rouse/io/byte_container.hpp"

namespace rouse::io {

Result<std::optional<BytesCodec::Frame>> BytesCodec::decode(FrameBuffer& input) {
  if (input.empty()) return std::optional<Frame>();
  const std::span<const std::byte> bytes = input.bytes();
  std::optional<Frame> frame(std::in_place, bytes.begin(), bytes.end());
  input.consume(bytes.size());
  return frame;
}

Result<std::optional<BytesCodec::Frame>> BytesCodec::decode_end(FrameBuffer& input) {
  return decode(input);
}

Result<void> BytesCodec::encode(const Buffer& bytes, std::vector<std::byte>& output) {
  internal::append_bytes(output, bytes);
  return {};
}

}  // namespace rouse::io
