// A Framed with a codec that only decodes.
// EXPECT-ERROR: Framed needs a codec that decodes and encodes
#include <cstddef>
#include <optional>

#include "rouse/io/duplex.hpp"
#include "rouse/io/framed_duplex.hpp"
#include "rouse/io/framed_read.hpp"

struct Bytes {
  using Frame = std::byte;
  rouse::Result<std::optional<Frame>> decode(rouse::io::FrameBuffer& input) {
    if (input.empty()) return std::optional<Frame>();
    const std::optional<Frame> first(input.bytes().front());
    input.consume(1);
    return first;
  }
  rouse::Result<std::optional<Frame>> decode_end(rouse::io::FrameBuffer& input) {
    return decode(input);
  }
};

void use(rouse::io::DuplexStream& stream) {
#ifdef FIXED
  rouse::io::FramedRead frames(stream, Bytes{});
#else
  rouse::io::Framed frames(stream, Bytes{});
#endif
  static_cast<void>(frames);
}
