// BytesCodec: bytes as they are: a frame is what has arrived. For a FramedRead or a Framed where a
// protocol has no frames (any more).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/io/frame_buffer.hpp"

namespace rouse::io {

class ROUSE_API BytesCodec {
 public:
  using Frame = std::vector<std::byte>;
  using Outgoing = Buffer;

  BytesCodec() noexcept = default;

  /// See Decoder. At least a byte.
  static Result<std::optional<Frame>> decode(FrameBuffer& input);
  /// The same.
  static Result<std::optional<Frame>> decode_end(FrameBuffer& input);
  /// See Encoder.
  static Result<void> encode(const Buffer& bytes, std::vector<std::byte>& output);
};

}  // namespace rouse::io
