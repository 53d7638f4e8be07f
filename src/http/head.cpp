#include "http/head.hpp"

#include <algorithm>

#include "http/text.hpp"

namespace rouse::http {
namespace {

int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

void Head::clear() noexcept {
  target.clear();
  headers.clear();
  content_length.reset();
  is_chunked = keeps_alive = wants_upgrade = expects_continue = false;
}

bool is_target(std::string_view target) noexcept {
  return !target.empty() &&
         std::ranges::all_of(target, [](char c) { return c > ' ' && c != 0x7F; });
}

std::string_view origin_form(std::string_view target) noexcept {
  if (target.starts_with('/')) return target;
  const std::size_t scheme = target.find("://");
  if (scheme == std::string_view::npos) return target;
  const std::size_t path = target.find_first_of("/?", scheme + 3);
  return path == std::string_view::npos ? std::string_view("/") : target.substr(path);
}

std::optional<std::string> percent_decoded(std::string_view text) {
  if (text.find('%') == std::string_view::npos) return std::string(text);
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_value(text[i + 1]);
    const int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

bool has_dot_segment(std::string_view path) noexcept {
  if (path.starts_with('/') && path.find("/.") == std::string_view::npos) return false;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    if (segment == "." || segment == "..") return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

}  // namespace rouse::http
