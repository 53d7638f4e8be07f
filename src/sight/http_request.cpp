#include "sight/http_request.hpp"

#include <algorithm>
#include <cstddef>

namespace rouse::sight {
namespace {

constexpr std::string_view line_end = "\r\n";

bool is_letter_or_digit(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}
bool is_of_token(char c) noexcept {
  return is_letter_or_digit(c) ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}
bool is_of_target(char c) noexcept { return c > ' ' && c < '\x7f' && c != '#'; }
/// Bytes above 0x7f are allowed, and mean nothing here.
bool is_of_value(char c) noexcept {
  return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
}
template <class Fits>
bool all(std::string_view text, Fits fits) noexcept {
  return std::all_of(text.begin(), text.end(), fits);
}

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool is_name(std::string_view name, std::string_view lower_case) noexcept {
  return std::equal(name.begin(), name.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return lower(a) == b; });
}

/// The part before `mark`, which `text` is left behind.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view mark) noexcept {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at + mark.size());
  return part;
}

std::string_view trim(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

HttpStatus parse_request_line(std::string_view line, HttpRequest& request) noexcept {
  const auto method = take_until(line, " ");
  const auto target = take_until(line, " ");
  if (!method || !target || method->empty() || !all(*method, is_of_token)) {
    return HttpStatus::bad_request;
  }
  if (!line.starts_with("HTTP/") || line.size() != 8) return HttpStatus::bad_request;
  if (line != "HTTP/1.1" && line != "HTTP/1.0") return HttpStatus::version_not_supported;
  request.is_head = *method == "HEAD";
  if (!request.is_head && *method != "GET") return HttpStatus::method_not_allowed;
  if (!target->starts_with('/') || !all(*target, is_of_target)) return HttpStatus::bad_request;
  const std::size_t mark = target->find('?');
  request.path = target->substr(0, mark);
  if (mark != std::string_view::npos) request.query = target->substr(mark + 1);
  return HttpStatus::ok;
}

/// A field that may be there once.
HttpStatus set_once(std::optional<std::string_view>& field, std::string_view value) noexcept {
  if (field) return HttpStatus::bad_request;
  field = value;
  return HttpStatus::ok;
}

HttpStatus parse_field(std::string_view line, HttpRequest& request,
                       std::optional<std::string_view>& host) noexcept {
  const auto name = take_until(line, ":");
  // Without a name, with a blank before the colon, or the continuation of the line before.
  if (!name || name->empty() || !all(*name, is_of_token)) return HttpStatus::bad_request;
  const std::string_view value = trim(line);
  if (!all(value, is_of_value)) return HttpStatus::bad_request;
  if (is_name(*name, "host")) return set_once(host, value);
  if (is_name(*name, "origin")) return set_once(request.origin, value);
  if (is_name(*name, "authorization")) return set_once(request.authorization, value);
  if (is_name(*name, "transfer-encoding")) return HttpStatus::body_not_allowed;
  if (is_name(*name, "content-length") && value != "0") return HttpStatus::body_not_allowed;
  return HttpStatus::ok;
}

HttpHead parse_lines(std::string_view lines) noexcept {
  HttpHead head{.status = HttpStatus::ok, .request = {}};
  const std::string_view first = *take_until(lines, line_end);
  head.status = parse_request_line(first, head.request);
  std::optional<std::string_view> host;
  while (head.status == HttpStatus::ok && !lines.empty()) {
    head.status = parse_field(*take_until(lines, line_end), head.request, host);
  }
  if (head.status == HttpStatus::ok && !host) head.status = HttpStatus::bad_request;
  head.request.host = host.value_or("");
  return head;
}

}  // namespace

std::optional<HttpHead> parse_http_head(std::string_view bytes) noexcept {
  const std::size_t end = bytes.substr(0, longest_http_head).find("\r\n\r\n");
  if (end != std::string_view::npos) return parse_lines(bytes.substr(0, end + line_end.size()));
  if (bytes.size() < longest_http_head) return {};
  return HttpHead{.status = HttpStatus::head_too_large, .request = {}};
}

}  // namespace rouse::sight
