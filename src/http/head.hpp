// Head: what the head of a message says, as llhttp read it and head_rules.cpp let it pass. Targets:
// what is a target, and which path is in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rouse/http/headers.hpp"
#include "rouse/http/method.hpp"
#include "rouse/http/status.hpp"

namespace rouse::http {

struct Head {
  Method method = Method::get;  // of a request
  Status status = Status::ok;   // of an answer
  int minor_version = 1;
  std::string target;  // of a request
  Headers headers;
  std::optional<std::uint64_t> content_length;
  bool is_chunked = false;
  bool keeps_alive = false;       // another message may follow on the connection
  bool wants_upgrade = false;     // "Connection: upgrade", with an Upgrade
  bool expects_continue = false;  // "Expect: 100-continue"

  /// Of a request: whether bytes follow.
  [[nodiscard]] bool has_body() const noexcept {
    return is_chunked || content_length.value_or(0) != 0;
  }
  /// Of the next message; keeps the memory.
  void clear() noexcept;
};

/// Why a message is refused: what to answer, and what was wrong.
struct Refusal {
  Status status = Status::bad_request;
  const char* reason = "";  // for people; static
};

/// What llhttp leaves open, or did in some version: what frames the body, and what else two parsers
/// might read differently.
[[nodiscard]] std::optional<Refusal> judge_request(Head& head);
[[nodiscard]] std::optional<Refusal> judge_response(Head& head);

/// Whether it can stand in a request line: no spaces, no control characters, not empty.
[[nodiscard]] bool is_target(std::string_view target) noexcept;
/// The path and query of a target, which may name a host too: "http://host/path?query".
[[nodiscard]] std::string_view origin_form(std::string_view target) noexcept;
/// With its %xx undone; nothing if one of them is malformed or a NUL.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);
/// Whether a segment of it is "." or "..".
[[nodiscard]] bool has_dot_segment(std::string_view path) noexcept;

}  // namespace rouse::http
