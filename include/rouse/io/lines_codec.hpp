// LinesCodec: frames that are lines. Received without their ends (`\n` or `\r\n`), sent with `\n`.
//
// To read lines alone, a BufReader's lines() are simpler.
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

class ROUSE_API LinesCodec {
 public:
  using Frame = std::string;
  using Outgoing = Buffer;

  /// After a line that is too long comes the next.
  static constexpr bool recovers = true;

  LinesCodec() noexcept = default;
  /// Lines of at most this many bytes, without `\n`. A longer one is Error::too_long, once, and is
  /// discarded up to its end.
  explicit LinesCodec(std::size_t max_line) noexcept : max_line_(max_line) {}

  /// See Decoder.
  Result<std::optional<std::string>> decode(FrameBuffer& input);
  /// The last line may have no end.
  Result<std::optional<std::string>> decode_end(FrameBuffer& input);
  /// Error::invalid_data if there is a `\n` in the line, which would be received as two, or a `\r`
  /// at its end, which would be received without it.
  Result<void> encode(const Buffer& line, std::vector<std::byte>& output);

 private:
  std::size_t max_line_ = default_line_limit;
  std::size_t searched_ = 0;  // this many bytes of the input have no `\n`
  bool is_discarding_ = false;
};

}  // namespace rouse::io
