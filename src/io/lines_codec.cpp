#include "rouse/io/lines_codec.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "rouse/io/byte_container.hpp"
#include "rouse/io/error.hpp"

#include "io/delimited_frame.hpp"

namespace rouse::io {
namespace {

std::string to_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Where the first `\n` is; the size if there is none.
std::size_t find_end(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return 0;
  const void* at = std::memchr(bytes.data(), '\n', bytes.size());
  if (at == nullptr) return bytes.size();
  return static_cast<std::size_t>(static_cast<const std::byte*>(at) - bytes.data());
}

}  // namespace

Result<std::optional<std::string>> LinesCodec::decode(FrameBuffer& input) {
  const Result<std::optional<std::size_t>> length =
      internal::find_frame_end(input, max_line_, searched_, is_discarding_, find_end);
  if (!length) return length.error();
  if (!*length) return std::optional<std::string>();
  std::optional<std::string> line(to_text(input.bytes().first(**length)));
  if (line->ends_with('\r')) line->pop_back();
  input.consume(**length + 1);
  return line;
}

Result<std::optional<std::string>> LinesCodec::decode_end(FrameBuffer& input) {
  Result<std::optional<std::string>> line = decode(input);
  if (!line || *line || input.empty()) return line;
  searched_ = 0;
  std::optional<std::string> last(to_text(input.bytes()));
  input.consume(input.size());
  return last;
}

Result<void> LinesCodec::encode(const Buffer& line, std::vector<std::byte>& output) {
  if (line.size() > max_line_) return make_error_code(Error::too_long);
  if (find_end(line) != line.size()) return make_error_code(Error::invalid_data);
  const bool loses_its_end = !line.empty() && line.data()[line.size() - 1] == std::byte{'\r'};
  if (loses_its_end) return make_error_code(Error::invalid_data);
  const std::size_t needed = output.size() + line.size() + 1;  // all of the line, or nothing
  if (needed > output.capacity()) output.reserve(std::max(needed, 2 * output.capacity()));
  internal::append_bytes(output, line);
  output.push_back(std::byte{'\n'});
  return {};
}

}  // namespace rouse::io
