// What the tests of WebSocket share: frames as bytes, written by hand so that they can be wrong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rouse/http/router.hpp"
#include "rouse/http/ws_socket.hpp"
#include "rouse/http/ws_upgrade.hpp"
#include "rouse/io/duplex.hpp"

#include "http/ws_connection.hpp"
#include "http/ws_protocol.hpp"

namespace rouse::http::ws {

/// The first byte of a frame.
inline constexpr unsigned final_frame = 0x80;
inline constexpr unsigned text_frame = 0x81;
inline constexpr unsigned binary_frame = 0x82;
inline constexpr unsigned close_frame = 0x88;
inline constexpr unsigned ping_frame = 0x89;
inline constexpr unsigned pong_frame = 0x8A;

/// A head that announces so many bytes.
inline std::string head(unsigned first, std::uint64_t size, bool is_masked) {
  std::string bytes(1, static_cast<char>(first));
  const unsigned mask_bit = is_masked ? 0x80 : 0;
  const int extended = size < 126 ? 0 : size < 65536 ? 2 : 8;
  const std::uint64_t second = extended == 0 ? size : extended == 2 ? 126 : 127;
  bytes += static_cast<char>(second | mask_bit);
  for (int i = extended; i > 0; --i) bytes += static_cast<char>(size >> (8 * (i - 1)));
  if (is_masked) bytes += "\x12\x34\x56\x78";
  return bytes;
}
inline std::string masked(std::string_view payload) {
  std::string bytes(payload);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ "\x12\x34\x56\x78"[i % 4]);
  }
  return bytes;
}
/// As a server sends it.
inline std::string plain_frame(unsigned first, std::string_view payload) {
  return head(first, payload.size(), false) + std::string(payload);
}
/// As a client sends it.
inline std::string masked_frame(unsigned first, std::string_view payload) {
  return head(first, payload.size(), true) + masked(payload);
}
/// What a close carries.
inline std::string close_payload(unsigned code, std::string_view reason = {}) {
  std::string payload{static_cast<char>(code >> 8U), static_cast<char>(code)};
  return payload += reason;
}

/// Gives bytes to a protocol, in one piece or more, and calls `seen(event)` for each event.
template <class Seen>
void feed(Protocol& protocol, std::string_view bytes, Seen&& seen) {
  for (;;) {
    const Protocol::Event event = protocol.next();
    if (event != Protocol::Event::none) seen(event);
    if (event == Protocol::Event::closed || event == Protocol::Event::failed) return;
    if (event == Protocol::Event::message) continue;
    if (bytes.empty()) return;
    const std::span<std::byte> room = protocol.room();
    const std::string_view piece = bytes.substr(0, room.size());
    std::ranges::copy(std::as_bytes(std::span(piece)), room.begin());
    protocol.filled(piece.size());
    bytes.remove_prefix(piece.size());
  }
}
/// All output so far.
inline std::string take_output(Protocol& protocol) {
  std::string all;
  for (;;) {
    const std::span<const std::byte> output = protocol.output();
    if (output.empty()) return all;
    all.append(reinterpret_cast<const char*>(output.data()), output.size());
    protocol.written(output.size());
  }
}

inline Socket socket_over(io::AnyConnection stream, Role role, const Limits& limits = Limits()) {
  return Socket(make_ref<Connection>(std::move(stream), role, limits, std::string()));
}

inline Async<void> echo(Socket peer) {
  while (auto message = co_await peer.recv()) co_await peer.send(*std::move(message));
}
inline Async<Response> chat(Request& request) { co_return upgrade(request, echo); }
inline Router chat_routes() {
  Router routes;
  routes.get("/chat", chat);
  routes.post("/chat", chat);
  return routes;
}

/// Both ends of a WebSocket.
class Ends {
 public:
  explicit Ends(std::size_t capacity = 65536, const Limits& limits = Limits())
      : Ends(io::duplex(capacity), limits) {}

  Socket client;
  Socket server;

 private:
  Ends(std::pair<io::DuplexStream, io::DuplexStream> streams, const Limits& limits)
      : client(socket_over(std::move(streams.first), Role::client, limits)),
        server(socket_over(std::move(streams.second), Role::server, limits)) {}
};

/// A server's Socket, and the stream of a client that may do anything.
class Hostile {
 public:
  explicit Hostile(std::size_t capacity = 65536, const Limits& limits = Limits())
      : Hostile(io::duplex(capacity), limits) {}

  io::DuplexStream client;
  Socket server;

 private:
  Hostile(std::pair<io::DuplexStream, io::DuplexStream> streams, const Limits& limits)
      : client(std::move(streams.first)),
        server(socket_over(std::move(streams.second), Role::server, limits)) {}
};

}  // namespace rouse::http::ws
