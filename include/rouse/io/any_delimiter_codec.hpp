// AnyDelimiterCodec: frames that end with any of some characters, and are sent with one of them, or
// with several.
//
//   io::AnyDelimiterCodec codec;                        // ends: , ; \n \r   sent with: ,
//   io::AnyDelimiterCodec records("\x1e", "\x1e", 64 * 1024);
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/io/frame_buffer.hpp"
#include "rouse/io/read_until.hpp"

namespace rouse::io {

class ROUSE_API AnyDelimiterCodec {
 public:
  using Frame = std::vector<std::byte>;
  using Outgoing = Buffer;
  /// After a frame that is too long comes the next.
  static constexpr bool recovers = true;

  /// A frame ends with any of `seek_delimiters`, and is sent with `sequence_writer` at its end. It
  /// has at most `max_length` bytes without that; others are Error::too_long, once, and discarded.
  explicit AnyDelimiterCodec(std::string seek_delimiters = ",;\n\r",
                             std::string sequence_writer = ",",
                             std::size_t max_length = default_line_limit);

  /// See Decoder. Between two delimiters is an empty frame.
  Result<std::optional<Frame>> decode(FrameBuffer& input);
  /// The last frame may have no end.
  Result<std::optional<Frame>> decode_end(FrameBuffer& input);
  /// Error::invalid_data if there is a delimiter in the frame, which would be received as two.
  Result<void> encode(const Buffer& frame, std::vector<std::byte>& output);

 private:
  std::string delimiters_;
  std::string written_;
  std::size_t max_length_;
  std::size_t searched_ = 0;  // this many bytes of the input have no delimiter
  bool is_discarding_ = false;
};

}  // namespace rouse::io
