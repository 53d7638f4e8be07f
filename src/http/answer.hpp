// Answers: what a handler gives becomes what is sent: ranges and conditions, what frames it, and
// what is said where no handler answers.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>

#include "rouse/http/request.hpp"
#include "rouse/http/response.hpp"

#include "http/write_head.hpp"

namespace rouse::http {

/// A short text for people, of a status without a handler.
[[nodiscard]] Response plain_answer(Status status, std::string_view text = {});
/// For what a handler threw. `body_error`: what went wrong with the body of the request before.
/// `is_news`: it is no fault of the peer's, and nobody has heard of it.
[[nodiscard]] Response answer_to(const std::exception_ptr& thrown, std::error_code body_error,
                                 bool& is_news);

/// If-None-Match, If-Modified-Since, Range and If-Range, for an answer that says what it is a copy
/// of by ETag or Last-Modified, or is made of a file.
void apply_conditions(const Request& request, Response& response);

/// How the bytes of an answer are told from what follows.
class AnswerFraming {
 public:
  AnswerFraming() noexcept {
  }  // NOLINT(*-use-equals-default): an aggregate would be destroyed twice
  Framing head;
  bool has_bytes = false;    // the body is sent
  bool ends_stream = false;  // only the end of the connection tells where it ends
};
/// `keeps_alive`: whether the connection is to stay open; it may not.
[[nodiscard]] AnswerFraming framing_of(const Request& request, Response& response,
                                       bool& keeps_alive);

}  // namespace rouse::http
