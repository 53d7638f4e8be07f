// Protocol: one WebSocket connection without its stream: bytes go in, messages and the end come
// out; messages go in, bytes come out. It keeps the rules of RFC 6455 on both sides of a
// connection, and answers pings and closes by itself. How the bytes were cut makes no difference.
//
//   open --close, or the peer breaks a rule--> closing --the peer closes--> over
//     '--------the peer closes: answered by itself-----------------------^
//
// Invariants:
//  - The output is whole frames, in the order they were asked for, and nothing behind a close.
//  - At most one pong waits, for the latest ping: a peer that only pings and never reads makes
//    nothing grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rouse/http/ws_error.hpp"
#include "rouse/http/ws_message.hpp"

#include "http/utf8.hpp"
#include "http/ws_frames.hpp"

namespace rouse::http::ws {

enum class Role : std::uint8_t { client, server };

/// Whether a peer may send this code, or be sent it.
[[nodiscard]] bool is_sendable(CloseCode code) noexcept;
/// The most bytes that the reason of a close may have.
inline constexpr std::size_t longest_reason = 123;

class Protocol {
 public:
  /// `none`: more bytes are needed. The last two are final: `next` gives them again.
  enum class Event : std::uint8_t { none, message, closed, failed };

  Protocol(Role role, std::size_t max_message);

  /// Room to read into. After `next` gave none.
  [[nodiscard]] std::span<std::byte> room();
  /// So many bytes were read into the room.
  void filled(std::size_t n) noexcept;
  /// What comes next of the bytes that came. Throws std::bad_alloc.
  [[nodiscard]] Event next();
  /// After Event::message, once.
  [[nodiscard]] Message take_message() noexcept;
  /// After Event::closed: what the peer said.
  [[nodiscard]] const Close& peer_close() const noexcept { return peer_close_; }
  /// After Event::failed.
  [[nodiscard]] Error failure() const noexcept { return *failure_; }

  /// Appends a message to the output. Not when it is closing.
  void send(const Message& message);
  /// Appends a ping. Nothing when it is closing.
  void ping();
  /// Appends a close; only the first one counts.
  void close(CloseCode code, std::string_view reason);
  [[nodiscard]] bool is_closing() const noexcept { return has_sent_close_; }

  /// What is to be written; valid until the next call. Throws std::bad_alloc.
  [[nodiscard]] std::span<const std::byte> output();
  /// So many bytes of it were written.
  void written(std::size_t n) noexcept;
  /// How many bytes are to be written.
  [[nodiscard]] std::size_t output_size() const noexcept { return output_.size() - written_; }

 private:
  [[nodiscard]] Event take_piece(const FramePiece& piece);
  [[nodiscard]] std::optional<Error> begin_frame(const FramePiece& piece) noexcept;
  [[nodiscard]] Event end_frame();
  [[nodiscard]] Event end_control();
  [[nodiscard]] Event end_close();
  [[nodiscard]] Event fail(Error error);
  void write(Opcode opcode, std::span<const std::byte> payload);
  void write_close(std::span<const std::byte> payload);

  const Role role_;
  const std::size_t max_message_;
  Frames frames_;

  std::vector<std::byte> input_;
  std::span<const std::byte> unread_;  // of the input
  // The frame that is being read.
  bool in_frame_ = false;
  bool is_final_ = false;
  Opcode opcode_ = Opcode::continuation;
  std::uint64_t left_ = 0;
  std::string control_;  // what a control frame carries
  // The message that is being read.
  bool in_message_ = false;
  bool is_text_ = false;
  Utf8 utf8_;
  std::string message_;
  // The end.
  bool is_over_ = false;
  Close peer_close_;
  std::optional<Error> failure_;

  std::string output_;
  std::size_t written_ = 0;  // of the output
  std::optional<std::string> pong_;
  bool has_sent_close_ = false;
};

}  // namespace rouse::http::ws
