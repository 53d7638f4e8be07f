// The handshake of WebSocket, both ends, as texts: keys, subprotocols, origins, and what a server
// may answer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rouse/http/headers.hpp"
#include "rouse/http/request.hpp"
#include "rouse/http/ws_options.hpp"

#include "http/head.hpp"

namespace rouse::http::ws {

/// A new Sec-WebSocket-Key. Throws std::system_error if the system gives no random bytes.
[[nodiscard]] std::string make_key();
/// Whether it is base64 of 16 bytes.
[[nodiscard]] bool is_key(std::string_view key) noexcept;
/// The Sec-WebSocket-Accept that proves that the key was read.
[[nodiscard]] std::string accept_of(std::string_view key);

/// The first of `spoken` that the client offers; empty if it offers none of them.
[[nodiscard]] std::string choose_protocol(const Headers& offer,
                                          std::span<const std::string> spoken);
/// Whether the page that a request comes from may connect.
[[nodiscard]] bool may_connect(const Request& request, const UpgradeOptions& options);

/// The head of the request of a client.
[[nodiscard]] std::string write_handshake(std::string_view host, std::string_view target,
                                          std::string_view key, const ConnectOptions& options);
/// The subprotocol that the server chose, perhaps none. Nothing: its answer is no acceptance.
[[nodiscard]] std::optional<std::string> judge_answer(const Head& answer, std::string_view key,
                                                      std::span<const std::string> offered);

}  // namespace rouse::http::ws
