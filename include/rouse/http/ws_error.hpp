// ws::Error: how a WebSocket connection fails, besides the errors of its stream.
//
//   if (r.error() == ws::Error::no_answer) ...
#pragma once

#include <system_error>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::http::ws {

enum class Error {
  bad_frame = 1,     ///< the peer broke the rules of the protocol: it was told 1002
  bad_text,          ///< a text, or the reason of a close, is not UTF-8: the peer was told 1007
  message_too_long,  ///< the peer sent a longer message than allowed: it was told 1009
  no_answer,         ///< the peer is silent: no pong, no close, or it takes no bytes
  closed,            ///< the connection is closed, or being closed: nothing can be sent
  refused,           ///< the server did not accept: its answer is no WebSocket handshake
  bad_url,           ///< not ws://host/path or ws://host:port/path
};

ROUSE_API const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(Error error) noexcept {
  return {static_cast<int>(error), error_category()};
}

}  // namespace rouse::http::ws

template <>
struct std::is_error_code_enum<rouse::http::ws::Error> : std::true_type {};
