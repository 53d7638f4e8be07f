// The characters of HTTP, and comparisons without regard to case.
#pragma once

#include <array>
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
/// Which of the 256 bytes are among some: looked up once for each byte of every field.
class ByteSet {
 public:
  template <class Test>
  consteval explicit ByteSet(Test is_in) {
    for (unsigned byte = 0; byte < 256; ++byte) has_[byte] = is_in(static_cast<char>(byte));
  }
  [[nodiscard]] constexpr bool has(char c) const noexcept {
    return has_[static_cast<unsigned char>(c)];
  }
  [[nodiscard]] constexpr bool has_all(std::string_view text) const noexcept {
    bool all = true;
    for (const char c : text) all = all && has(c);
    return all;
  }

 private:
  std::array<bool, 256> has_{};
};

/// Of a name: RFC 9110, "token".
inline constexpr ByteSet token_chars([](char c) {
  return is_letter(c) || is_digit(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
});
/// Of a value: all but control characters; a tab is allowed.
inline constexpr ByteSet value_chars([](char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= ' ' && byte != 0x7F) || c == '\t';
});
/// Of a host and its port: nothing that could be read as a path or a user.
inline constexpr ByteSet host_chars([](char c) {
  return is_letter(c) || is_digit(c) ||
         std::string_view("-._~!$&'()*+;=:[]%").find(c) != std::string_view::npos;
});

[[nodiscard]] constexpr bool is_token(std::string_view text) noexcept {
  return !text.empty() && token_chars.has_all(text);
}
[[nodiscard]] constexpr bool is_value(std::string_view text) noexcept {
  return value_chars.has_all(text);
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
