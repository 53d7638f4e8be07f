// Decoder, Encoder: how bytes become frames and frames bytes, without any waiting: what FramedRead
// and FramedWrite need of a codec. LengthDelimited and LinesCodec are two.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <vector>

#include "rouse/base/result.hpp"
#include "rouse/io/frame_buffer.hpp"

namespace rouse::io {

/// decode: the next frame, whose bytes it consumes, or nothing if more bytes are needed for it.
/// decode_end: the same when there are no more bytes: nothing only if the buffer is empty.
template <class C>
concept Decoder = requires(C& codec, FrameBuffer& input) {
  typename C::Frame;
  { codec.decode(input) } -> std::same_as<Result<std::optional<typename C::Frame>>>;
  { codec.decode_end(input) } -> std::same_as<Result<std::optional<typename C::Frame>>>;
};

/// encode: appends the frame's bytes, all of them, or, with an error, none. `Outgoing` is what is
/// sent: the frame, or what refers to its content.
template <class C>
concept Encoder =
    requires(C& codec, const typename C::Outgoing& frame, std::vector<std::byte>& output) {
      { codec.encode(frame, output) } -> std::same_as<Result<void>>;
    };

}  // namespace rouse::io
