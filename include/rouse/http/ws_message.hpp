// ws::Message: what WebSocket peers send each other: a text, which is UTF-8, or bytes.
//
//   co_await peer.send("hello");
//   co_await peer.send(ws::Message::binary(image));
//   if (message.is_text()) use(message.text());
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace rouse::http::ws {

/// Threads: one at a time.
class Message {
 public:
  /// A text. One that is not UTF-8 is refused when it is sent.
  Message(std::string text) noexcept : data_(std::move(text)), is_text_(true) {}
  Message(std::string_view text) : data_(text), is_text_(true) {}
  Message(const char* text) : data_(text), is_text_(true) {}
  /// Bytes.
  [[nodiscard]] static Message binary(std::string bytes) noexcept {
    Message message(std::move(bytes));
    message.is_text_ = false;
    return message;
  }
  [[nodiscard]] static Message binary(std::span<const std::byte> bytes) {
    return binary(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }

  /// Otherwise it is bytes.
  [[nodiscard]] bool is_text() const noexcept { return is_text_; }
  /// What it carries, as characters; also of bytes.
  [[nodiscard]] const std::string& text() const& noexcept { return data_; }
  [[nodiscard]] std::string text() && noexcept { return std::move(data_); }
  /// What it carries, as bytes; also of a text.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return std::as_bytes(std::span(data_));
  }
  [[nodiscard]] std::size_t size() const noexcept { return data_.size(); }
  [[nodiscard]] bool empty() const noexcept { return data_.empty(); }
  /// The same kind and the same bytes.
  friend bool operator==(const Message&, const Message&) noexcept = default;

 private:
  std::string data_;
  bool is_text_;
};

/// Why a connection is closed. One without a name here is static_cast<CloseCode>(number): 3000 to
/// 3999 are registered, 4000 to 4999 are for whoever needs them.
enum class CloseCode : std::uint16_t {
  normal = 1000,
  going_away = 1001,      ///< the server ends, or the page is left
  protocol_error = 1002,  ///< the peer breaks the rules
  unsupported = 1003,     ///< a kind of message that is not expected
  none = 1005,            ///< never sent: the peer gave no code
  bad_text = 1007,        ///< a text is not UTF-8
  policy_violation = 1008,
  too_long = 1009,  ///< a message is longer than allowed
  missing_extension = 1010,
  internal_error = 1011,
  service_restart = 1012,
  try_again_later = 1013,
  bad_gateway = 1014,
};

/// What a peer says when it closes.
class Close {
 public:
  Close() noexcept {}  // NOLINT(*-use-equals-default): an aggregate would be destroyed twice
  Close(CloseCode why, std::string text) noexcept : code(why), reason(std::move(text)) {}
  CloseCode code = CloseCode::none;
  std::string reason;  ///< for people; UTF-8, often empty
};

}  // namespace rouse::http::ws

namespace rouse {

namespace ws = http::ws;

}  // namespace rouse
