// Decoder, Encoder: turn bytes into frames and back, without any waiting. FramedRead and
// FramedWrite need a codec. LengthDelimitedCodec and LinesCodec are two.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <vector>

#include "rouse/base/result.hpp"
#include "rouse/io/frame_buffer.hpp"

namespace rouse::io {

/// decode: the next frame, whose bytes it consumes, or an empty optional if more bytes are needed.
/// decode_end: the same at end of file: an empty optional only if the buffer is empty.
/// After an error there are no more frames, unless the codec says that it goes on after its errors:
/// `static constexpr bool recovers = true;`. Then it must have consumed what it can't use, or do so
/// in its next call.
template <class C>
concept Decoder = requires(C& codec, FrameBuffer& input) {
  typename C::Frame;
  { codec.decode(input) } -> std::same_as<Result<std::optional<typename C::Frame>>>;
  { codec.decode_end(input) } -> std::same_as<Result<std::optional<typename C::Frame>>>;
};

/// encode: appends all of the frame's bytes or, with an error, none. `Outgoing` is what is sent:
/// the frame, or a reference to its content.
template <class C>
concept Encoder =
    requires(C& codec, const typename C::Outgoing& frame, std::vector<std::byte>& output) {
      { codec.encode(frame, output) } -> std::same_as<Result<void>>;
    };

}  // namespace rouse::io
