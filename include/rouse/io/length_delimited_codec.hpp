// LengthDelimitedCodec: frames of any bytes, each preceded by its length.
//
//   io::LengthDelimitedCodec codec;                                   // 4 bytes, big endian, 8 MiB
//   auto codec = io::LengthDelimitedCodec().length_field_length(2).little_endian();
//
// A length above the limit is refused when it is read, before anything is allocated for it. Heads
// of many protocols can be described: 2 bytes for the kind, then 3 for the length of everything,
// and the head is part of the frame:
//
//   io::LengthDelimitedCodec().length_field_offset(2).length_field_length(3).num_skip(0);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/io/frame_buffer.hpp"

namespace rouse::io {

class ROUSE_API LengthDelimitedCodec {
 public:
  using Frame = std::vector<std::byte>;
  using Outgoing = Buffer;

  LengthDelimitedCodec() noexcept = default;

  /// How many bytes come before the length. Default: 0. Of what is received only: a frame is sent
  /// as its length and itself.
  LengthDelimitedCodec& length_field_offset(std::size_t bytes) noexcept;
  /// How many bytes the length has: 1 to 8. Default: 4.
  LengthDelimitedCodec& length_field_length(std::size_t bytes);
  /// What is added to a received length, and subtracted from a sent one: how many bytes the frame
  /// has more than the length says. Default: 0.
  LengthDelimitedCodec& length_adjustment(std::int64_t bytes) noexcept;
  /// How many bytes are dropped before the frame begins. Default: all up to the end of the length;
  /// 0: the frame has its head in it, which the length then has to count.
  LengthDelimitedCodec& num_skip(std::size_t bytes) noexcept;
  /// The length is big-endian, the network byte order. The default.
  LengthDelimitedCodec& big_endian() noexcept;
  /// The length is little-endian.
  LengthDelimitedCodec& little_endian() noexcept;
  /// The largest length that is received, before its adjustment, and the longest frame that is
  /// sent; Error::too_long for others. Default: 8 MiB.
  LengthDelimitedCodec& max_frame_length(std::size_t bytes) noexcept;

  /// See Decoder.
  /// Errors: Error::too_long; Error::invalid_data if the adjusted length is negative or overflows,
  /// and for a frame without a single byte, its head included.
  Result<std::optional<Frame>> decode(FrameBuffer& input);
  /// Errors: Error::unexpected_eof if the stream ended in the middle of a frame.
  Result<std::optional<Frame>> decode_end(FrameBuffer& input);
  /// See Encoder.
  /// Errors: Error::too_long; Error::invalid_data if the adjusted length is negative.
  Result<void> encode(const Buffer& frame, std::vector<std::byte>& output);

 private:
  [[nodiscard]] std::uint64_t read_length(std::span<const std::byte> field) const noexcept;

  std::size_t offset_ = 0;
  std::size_t length_bytes_ = 4;
  std::int64_t adjustment_ = 0;
  std::optional<std::size_t> skip_;
  std::size_t max_frame_ = std::size_t{8} * 1024 * 1024;
  bool little_endian_ = false;
};

}  // namespace rouse::io
