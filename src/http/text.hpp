// The characters of HTTP, and comparisons without regard to case.
#pragma once

#include <cstddef>
#include <string_view>

namespace rouse::http {

[[nodiscard]] constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] constexpr bool are_same_name(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_letter(char c) noexcept {
  return lower(c) >= 'a' && lower(c) <= 'z';
}
/// Of a name: RFC 9110, "token".
[[nodiscard]] constexpr bool is_token_char(char c) noexcept {
  return is_letter(c) || is_digit(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}
[[nodiscard]] constexpr bool is_token(std::string_view text) noexcept {
  for (const char c : text) {
    if (!is_token_char(c)) return false;
  }
  return !text.empty();
}
/// Of a value: all but control characters; a tab is allowed.
[[nodiscard]] constexpr bool is_value_char(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= ' ' && byte != 0x7F) || c == '\t';
}
[[nodiscard]] constexpr bool is_value(std::string_view text) noexcept {
  for (const char c : text) {
    if (!is_value_char(c)) return false;
  }
  return true;
}
/// Without the spaces and tabs around it.
[[nodiscard]] constexpr std::string_view trim(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}
/// Takes the next member off a list with commas: trimmed, empty ones too.
[[nodiscard]] constexpr std::string_view take_member(std::string_view& list) noexcept {
  const std::size_t comma = list.find(',');
  const std::string_view member = trim(list.substr(0, comma));
  list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  return member;
}

}  // namespace rouse::http
