// WebSocket frames, right and wrong. What a protocol makes of them does not depend on how they were
// cut; no message is longer than allowed, no text is anything but UTF-8; what it says in return is
// right: its peer understands all of it, and nothing follows a close.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rouse/http/ws_message.hpp"

#include "http/utf8.hpp"
#include "http/ws_protocol.hpp"
#include "input.hpp"

namespace rouse::fuzz {
namespace {

using http::ws::Message;
using http::ws::Protocol;
using http::ws::Role;

constexpr std::size_t most = 300;

/// A frame whose head is anything, and mostly what it should be.
void add_frame(std::string& bytes, Input& input, bool is_masked) {
  const std::uint8_t kind = input.byte();
  if (kind == 0xFF) {  // no frame at all
    bytes += input.text(input.below(16));
    return;
  }
  constexpr std::uint8_t usual[] = {0x81, 0x01, 0x80, 0x00, 0x82, 0x89, 0x8A, 0x88};
  const bool is_usual = kind < 0xE0;
  const std::uint8_t first = is_usual ? usual[kind % 8] : input.byte();
  if (!is_usual && input.below(4) == 3) is_masked = !is_masked;
  std::string payload = input.text(input.below(64));
  if (!is_usual) payload.resize(payload.size() + input.byte(), 'x');
  bytes += static_cast<char>(first);
  const int mask_bit = is_masked ? 0x80 : 0;
  if (payload.size() < 126) {
    bytes += static_cast<char>(static_cast<int>(payload.size()) | mask_bit);
  } else {
    bytes += static_cast<char>(126 | mask_bit);
    bytes += static_cast<char>(payload.size() >> 8U);
    bytes += static_cast<char>(payload.size());
  }
  if (is_masked) bytes += std::string(4, '\0');
  bytes += payload;
}

/// A protocol, and what it told.
class Seen {
 public:
  explicit Seen(Role role) : protocol(role, most) {}

  void feed(std::string_view bytes) {
    while (!is_over) {
      switch (protocol.next()) {
        case Protocol::Event::message:
          note(protocol.take_message());
          continue;
        case Protocol::Event::closed:
          told += "closed " + std::to_string(static_cast<int>(protocol.peer_close().code)) +
                  protocol.peer_close().reason;
          is_over = true;
          return;
        case Protocol::Event::failed:
          told += "failed " + std::to_string(static_cast<int>(protocol.failure()));
          has_failed = is_over = true;
          return;
        case Protocol::Event::none:
          break;
      }
      if (bytes.empty()) return;
      const std::span<std::byte> room = protocol.room();
      const auto piece = std::as_bytes(std::span(bytes)).first(std::min(bytes.size(), room.size()));
      std::ranges::copy(piece, room.begin());
      protocol.filled(piece.size());
      bytes.remove_prefix(piece.size());
    }
  }
  std::string output() {
    const auto bytes = protocol.output();
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    protocol.written(bytes.size());
    return text;
  }

  Protocol protocol;
  std::string told;
  bool is_over = false;
  bool has_failed = false;

 private:
  void note(const Message& message) {
    require(message.size() <= most, "no message is longer than allowed");
    require(!message.is_text() || http::is_utf8(message.bytes()), "a text is UTF-8");
    told += (message.is_text() ? "text " : "binary ") + message.text() + "\n";
  }
};

void run(Input input) {
  const Role role = input.flag() ? Role::server : Role::client;
  const std::string cuts = input.text(input.below(32));
  std::string bytes;
  while (!input.empty()) add_frame(bytes, input, role == Role::server);

  Seen whole(role);
  whole.feed(bytes);
  Seen pieces(role);
  Seen peer(role == Role::server ? Role::client : Role::server);
  std::string_view left = bytes;
  for (const char cut : cuts) {
    const std::string_view piece = left.substr(0, static_cast<unsigned char>(cut));
    pieces.feed(piece);
    peer.feed(pieces.output());
    left.remove_prefix(piece.size());
  }
  pieces.feed(left);
  peer.feed(pieces.output());
  require(pieces.told == whole.told, "how it was cut makes no difference");
  require(!peer.has_failed, "what it says is right");
  require(peer.is_over == pieces.is_over, "an end is told, and nothing else is");
  require(pieces.is_over == pieces.protocol.is_closing(), "it closes by itself at the end only");
  require(pieces.output().empty(), "nothing follows");

  Seen echoed(role);
  echoed.feed(peer.output());
  require(!echoed.has_failed, "so is its peer's answer");
}

}  // namespace
}  // namespace rouse::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rouse::fuzz::run(rouse::fuzz::Input(data, size));
  return 0;
}
