// How LinesCodec and AnyDelimiterCodec find the end of a frame, and what becomes of one that is too
// long: it is discarded, up to its end, after one error.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "rouse/base/result.hpp"
#include "rouse/io/error.hpp"
#include "rouse/io/frame_buffer.hpp"

namespace rouse::internal {

/// The length of the frame at the front of `input`, without its delimiter; nothing if its end has
/// not arrived. `find(bytes)` says where the first delimiter is, bytes.size() if there is none.
/// `searched` bytes have none.
template <class Find>
Result<std::optional<std::size_t>> find_frame_end(io::FrameBuffer& input, std::size_t most,
                                                  std::size_t& searched, bool& is_discarding,
                                                  Find find) {
  if (is_discarding) {
    const std::size_t end = find(input.bytes());
    is_discarding = end == input.size();
    input.consume(is_discarding ? end : end + 1);
    if (is_discarding) return std::optional<std::size_t>();
  }
  const std::span<const std::byte> bytes = input.bytes();
  const std::size_t length = searched + find(bytes.subspan(searched));
  searched = 0;
  if (length > most) {
    is_discarding = true;
    return make_error_code(io::Error::too_long);
  }
  if (length < bytes.size()) return std::optional<std::size_t>(length);
  searched = length;
  return std::optional<std::size_t>();
}

}  // namespace rouse::internal
