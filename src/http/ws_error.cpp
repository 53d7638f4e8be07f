#include "rouse/http/ws_error.hpp"

#include <string>

namespace rouse::http::ws {
namespace {

class WebSocketCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rouse.websocket"; }
  std::string message(int value) const override {
    switch (static_cast<Error>(value)) {
      case Error::bad_frame:
        return "the peer broke the rules of WebSocket";
      case Error::bad_text:
        return "a WebSocket text is not UTF-8: send other bytes as Message::binary";
      case Error::message_too_long:
        return "the peer sent a longer WebSocket message than allowed: see Limits::max_message";
      case Error::no_answer:
        return "the WebSocket peer did not answer in time, or takes no bytes";
      case Error::closed:
        return "the WebSocket is closed: nothing can be sent";
      case Error::refused:
        return "the server did not accept the WebSocket handshake";
      case Error::bad_url:
        return "not a URL of a WebSocket: write ws://host/path or ws://host:port/path";
    }
    return "unknown error";
  }
  std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<Error>(value)) {
      case Error::bad_frame:
        return std::make_error_condition(std::errc::protocol_error);
      case Error::bad_text:
        return std::make_error_condition(std::errc::illegal_byte_sequence);
      case Error::message_too_long:
        return std::make_error_condition(std::errc::message_size);
      case Error::no_answer:
        return std::make_error_condition(std::errc::timed_out);
      case Error::closed:
        return std::make_error_condition(std::errc::not_connected);
      case Error::refused:
        return std::make_error_condition(std::errc::connection_refused);
      case Error::bad_url:
        return std::make_error_condition(std::errc::invalid_argument);
    }
    return {value, *this};
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const WebSocketCategory category;
  return category;
}

}  // namespace rouse::http::ws
