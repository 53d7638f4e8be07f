// http::Status: the code of an answer. One without a name here is static_cast<Status>(number).
#pragma once

#include <cstdint>
#include <string_view>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::http {

enum class Status : std::uint16_t {
  continue_ = 100,
  switching_protocols = 101,
  early_hints = 103,
  ok = 200,
  created = 201,
  accepted = 202,
  no_content = 204,
  reset_content = 205,
  partial_content = 206,
  multiple_choices = 300,
  moved_permanently = 301,
  found = 302,
  see_other = 303,
  not_modified = 304,
  temporary_redirect = 307,
  permanent_redirect = 308,
  bad_request = 400,
  unauthorized = 401,
  payment_required = 402,
  forbidden = 403,
  not_found = 404,
  method_not_allowed = 405,
  not_acceptable = 406,
  request_timeout = 408,
  conflict = 409,
  gone = 410,
  length_required = 411,
  precondition_failed = 412,
  content_too_large = 413,
  uri_too_long = 414,
  unsupported_media_type = 415,
  range_not_satisfiable = 416,
  expectation_failed = 417,
  im_a_teapot = 418,
  misdirected_request = 421,
  unprocessable_content = 422,
  too_early = 425,
  upgrade_required = 426,
  precondition_required = 428,
  too_many_requests = 429,
  header_fields_too_large = 431,
  unavailable_for_legal_reasons = 451,
  internal_server_error = 500,
  not_implemented = 501,
  bad_gateway = 502,
  service_unavailable = 503,
  gateway_timeout = 504,
  version_not_supported = 505,
  insufficient_storage = 507,
};

/// 404, as a number.
[[nodiscard]] constexpr unsigned number_of(Status status) noexcept {
  return static_cast<unsigned>(status);
}
/// "Not Found"; empty for a code without a name here.
[[nodiscard]] ROUSE_API std::string_view reason_of(Status status) noexcept;

/// 1xx: the answer is still to come.
[[nodiscard]] constexpr bool is_informational(Status status) noexcept {
  return number_of(status) / 100 == 1;
}
/// 2xx.
[[nodiscard]] constexpr bool is_success(Status status) noexcept {
  return number_of(status) / 100 == 2;
}
/// 3xx.
[[nodiscard]] constexpr bool is_redirection(Status status) noexcept {
  return number_of(status) / 100 == 3;
}
/// 4xx and 5xx.
[[nodiscard]] constexpr bool is_error(Status status) noexcept {
  return number_of(status) / 100 == 4 || number_of(status) / 100 == 5;
}
/// Whether an answer with this status may have a body: not 1xx, 204, 304.
[[nodiscard]] constexpr bool may_have_body(Status status) noexcept {
  return !is_informational(status) && status != Status::no_content &&
         status != Status::not_modified;
}

}  // namespace rouse::http
