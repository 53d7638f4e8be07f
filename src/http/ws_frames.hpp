// Frames: WebSocket frames out of bytes and into bytes, by wslay. It knows how a frame is written,
// its mask, and that control frames are short and whole; which frames make a message, and which are
// allowed, is known by Protocol.
//
// wslay has a second layer that makes messages. It is not used: it judges the reason of a close by
// how its bytes were cut, keeps a block of memory for each fragment, and queues a pong for each
// ping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "rouse/base/internal/box.hpp"

namespace rouse::http::ws {

enum class Opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};
[[nodiscard]] constexpr bool is_control(Opcode opcode) noexcept {
  return (static_cast<std::uint8_t>(opcode) & 8U) != 0;
}

/// Of a frame: its head, and some bytes of what it carries.
struct FramePiece {
  Opcode opcode = Opcode::continuation;  // as it came: may be none of those above
  std::uint8_t reserved = 0;             // the bits RSV1 to RSV3
  bool is_final = false;
  bool is_masked = false;
  std::uint64_t size = 0;            // of the frame
  std::span<const std::byte> bytes;  // unmasked; until the next call
};

class Frames {
 public:
  enum class Read : std::uint8_t { nothing, piece, malformed };

  /// Throws std::bad_alloc.
  Frames();
  Frames(Frames&& other) noexcept;
  Frames& operator=(Frames&& other) noexcept;
  ~Frames();

  /// Takes bytes off the front of `input`. Nothing: all were taken, and more are needed. A piece
  /// has at least one byte, unless its frame has none. Malformed: don't call it again.
  [[nodiscard]] Read read(std::span<const std::byte>& input, FramePiece& piece) noexcept;
  /// Appends a whole frame to `out`, or throws std::bad_alloc, or std::system_error if the system
  /// gives no random bytes for the mask; `out` is as before then.
  void write(std::string& out, Opcode opcode, std::span<const std::byte> payload, bool is_masked);

 private:
  struct State;
  struct Callbacks;
  internal::Box<State> state_;
};

}  // namespace rouse::http::ws
