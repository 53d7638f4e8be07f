// The head of an HTTP request, read strictly: what is not exactly as RFC 9112 wants it is refused,
// as are bodies and methods that would change something. No memory, nothing that may fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rouse::sight {

/// Views of the bytes that were parsed.
struct HttpRequest {
  bool is_head = false;  // else it is GET
  std::string_view path;
  std::string_view query;  // behind the '?'
  std::string_view host;
  std::optional<std::string_view> origin;
  std::optional<std::string_view> authorization;
};

/// Of a response.
enum class HttpStatus : std::uint16_t {
  ok = 200,
  bad_request = 400,
  unauthorized = 401,
  forbidden = 403,
  not_found = 404,
  method_not_allowed = 405,
  body_not_allowed = 413,
  head_too_large = 431,
  no_room = 503,
  version_not_supported = 505,
};

struct HttpHead {
  HttpStatus status;  // ok: what follows is valid
  HttpRequest request;
};

/// The longest head there may be.
inline constexpr std::size_t longest_http_head = 8192;

/// What came so far; bytes after the head are none of it. Nothing: the head is not complete.
std::optional<HttpHead> parse_http_head(std::string_view bytes) noexcept;

}  // namespace rouse::sight
