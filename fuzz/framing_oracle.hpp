// What the frames of some bytes are, decoded plainly, all at once; and how the codecs are set up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "rouse/io/any_delimiter_codec.hpp"
#include "rouse/io/error.hpp"
#include "rouse/io/length_delimited_codec.hpp"
#include "rouse/io/lines_codec.hpp"

#include "input.hpp"

namespace rouse::fuzz {

struct Config {
  explicit Config(Input& input)
      : width(1 + input.below(8)),
        little_endian(input.flag()),
        max_frame(input.below(4) == 0 ? input.number(3) : input.below(64)),
        offset(input.flag() ? input.below(4) : 0),
        adjustment(input.flag() ? static_cast<std::int64_t>(input.below(16)) - 8 : 0) {
    if (input.flag()) skip = input.below(16);
  }

  /// What may be sent and received.
  [[nodiscard]] io::LengthDelimitedCodec simple() const {
    io::LengthDelimitedCodec codec;
    codec.length_field_length(width).max_frame_length(max_frame);
    if (little_endian) codec.little_endian();
    return codec;
  }
  [[nodiscard]] io::LengthDelimitedCodec by_length() const {
    io::LengthDelimitedCodec codec = simple();
    codec.length_field_offset(offset).length_adjustment(adjustment);
    if (skip) codec.num_skip(*skip);
    return codec;
  }
  [[nodiscard]] io::LinesCodec by_line() const { return io::LinesCodec(max_frame); }
  [[nodiscard]] io::AnyDelimiterCodec by_delimiter() const {
    return io::AnyDelimiterCodec(delimiters, ";", max_frame);
  }

  static constexpr const char* delimiters = ",;\n";
  std::size_t width;
  bool little_endian;
  std::size_t max_frame;
  std::size_t offset;
  std::int64_t adjustment;
  std::optional<std::size_t> skip;
};

/// A frame, or an error.
struct Item {
  explicit Item(std::string text) : frame(std::move(text)) {}
  explicit Item(std::error_code code) : error(code) {}
  std::string frame;
  std::error_code error;
};
using Items = std::vector<Item>;

inline std::error_code code(io::Error error) { return make_error_code(error); }

/// The frames of `bytes`, after which the reader says `end`.
inline Items decode_by_length(const std::string& bytes, const Config& config, std::error_code end) {
  Items items;
  const auto end_with = [&](std::error_code error) {
    if (error) items.emplace_back(error);
    return items;
  };
  const std::error_code cut = end ? end : code(io::Error::unexpected_eof);
  for (std::size_t at = 0;;) {
    const std::size_t left = bytes.size() - at;
    if (left == 0) return end_with(end);
    if (left < config.offset + config.width) return end_with(cut);
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < config.width; ++i) {
      const std::size_t place = config.little_endian ? i : config.width - 1 - i;
      const char byte = bytes[at + config.offset + i];
      length |= std::uint64_t{static_cast<std::uint8_t>(byte)} << (8 * place);
    }
    if (length > config.max_frame) return end_with(code(io::Error::too_long));
    // At most 2^24 + 8: nothing overflows here.
    const std::int64_t size = static_cast<std::int64_t>(length) + config.adjustment;
    const std::size_t skip = config.skip.value_or(config.offset + config.width);
    if (size < 0 || (size == 0 && skip == 0)) return end_with(code(io::Error::invalid_data));
    const std::size_t all = skip + static_cast<std::size_t>(size);
    if (left < all) return end_with(cut);
    items.emplace_back(bytes.substr(at + skip, static_cast<std::size_t>(size)));
    at += all;
  }
}

/// The same. One that is too long is an error, and the next follows.
inline Items decode_by_delimiter(const std::string& bytes, std::string_view delimiters,
                                 bool is_text, const Config& config, std::error_code end) {
  Items items;
  for (std::size_t at = 0;;) {
    const std::size_t stop = bytes.find_first_of(delimiters, at);
    const bool is_last = stop == std::string::npos;
    std::string frame = bytes.substr(at, stop - at);
    if (frame.size() > config.max_frame) {
      items.emplace_back(code(io::Error::too_long));
    } else if (!is_last) {
      if (is_text && frame.ends_with('\r')) frame.pop_back();
      items.emplace_back(frame);
    } else if (!end && !frame.empty()) {
      items.emplace_back(frame);
    }
    if (is_last) break;
    at = stop + 1;
  }
  if (end) items.emplace_back(end);
  return items;
}

}  // namespace rouse::fuzz
