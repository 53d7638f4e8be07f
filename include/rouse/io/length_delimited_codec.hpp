// LengthDelimited: frames of any bytes, each after its length.
//
//   io::LengthDelimited codec;                                        // 4 bytes, big endian, 8 MiB
//   auto codec = io::LengthDelimited().head_bytes(2).little_endian().max_frame(1024);
//
// The length says how many bytes follow it. One that is larger than allowed is refused when it is
// read, before anything is allocated for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/io/frame_buffer.hpp"

namespace rouse::io {

class ROUSE_API LengthDelimited {
 public:
  using Frame = std::vector<std::byte>;
  using Outgoing = Buffer;

  LengthDelimited() noexcept = default;

  /// How many bytes the length has: 1, 2, 4 or 8.
  LengthDelimited& head_bytes(std::size_t count);
  /// The length's lowest byte first. Else its highest: the order of the network.
  LengthDelimited& little_endian() noexcept {
    little_endian_ = true;
    return *this;
  }
  /// The longest frame that is sent or received; Error::too_long for others.
  LengthDelimited& max_frame(std::size_t bytes) noexcept {
    max_frame_ = bytes;
    return *this;
  }

  Result<std::optional<Frame>> decode(FrameBuffer& input);
  /// Error::unexpected_end if the stream ended in the midst of a frame.
  Result<std::optional<Frame>> decode_end(FrameBuffer& input);
  Result<void> encode(const Buffer& frame, std::vector<std::byte>& output);

 private:
  [[nodiscard]] std::uint64_t read_length(std::span<const std::byte> head) const noexcept;
  [[nodiscard]] std::uint64_t longest() const noexcept;

  std::size_t head_bytes_ = 4;
  std::size_t max_frame_ = std::size_t{8} * 1024 * 1024;
  bool little_endian_ = false;
};

}  // namespace rouse::io
