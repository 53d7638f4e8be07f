#include "rouse/io/any_delimiter_codec.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "rouse/io/byte_container.hpp"
#include "rouse/io/error.hpp"

#include "io/delimited_frame.hpp"

namespace rouse::io {
namespace {

/// Where the first of `delimiters` is; the size if there is none.
std::size_t find_any(std::span<const std::byte> bytes, std::string_view delimiters) noexcept {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t at = text.find_first_of(delimiters);
  return at == std::string_view::npos ? bytes.size() : at;
}

/// The first `length` bytes, as a frame, and what ends it.
std::vector<std::byte> take(FrameBuffer& input, std::size_t length, std::size_t end) {
  const std::span<const std::byte> bytes = input.bytes().first(length);
  std::vector<std::byte> frame(bytes.begin(), bytes.end());
  input.consume(length + end);
  return frame;
}

}  // namespace

AnyDelimiterCodec::AnyDelimiterCodec(std::string seek_delimiters, std::string sequence_writer,
                                     std::size_t max_length)
    : delimiters_(std::move(seek_delimiters)),
      written_(std::move(sequence_writer)),
      max_length_(max_length) {}

Result<std::optional<AnyDelimiterCodec::Frame>> AnyDelimiterCodec::decode(FrameBuffer& input) {
  const auto find = [this](std::span<const std::byte> bytes) {
    return find_any(bytes, delimiters_);
  };
  const Result<std::optional<std::size_t>> length =
      internal::find_frame_end(input, max_length_, searched_, is_discarding_, find);
  if (!length) return length.error();
  if (!*length) return std::optional<Frame>();
  return std::optional<Frame>(take(input, **length, 1));
}

Result<std::optional<AnyDelimiterCodec::Frame>> AnyDelimiterCodec::decode_end(FrameBuffer& input) {
  Result<std::optional<Frame>> frame = decode(input);
  if (!frame || *frame || input.empty()) return frame;
  searched_ = 0;
  return std::optional<Frame>(take(input, input.size(), 0));
}

Result<void> AnyDelimiterCodec::encode(const Buffer& frame, std::vector<std::byte>& output) {
  if (frame.size() > max_length_) return make_error_code(Error::too_long);
  if (find_any(frame, delimiters_) != frame.size()) return make_error_code(Error::invalid_data);
  // Room for all at once, so that what throws adds nothing; and twice as much as before at least.
  const std::size_t needed = output.size() + frame.size() + written_.size();
  if (needed > output.capacity()) output.reserve(std::max(needed, 2 * output.capacity()));
  internal::append_bytes(output, frame);
  internal::append_bytes(output, std::as_bytes(std::span(written_)));
  return {};
}

}  // namespace rouse::io
