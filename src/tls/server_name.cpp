#include "tls/server_name.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rouse::internal {
namespace {

constexpr std::size_t longest_name = 253;
constexpr std::size_t longest_label = 63;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
/// With the underscore, which is in no host name and in many certificates.
bool is_of_a_label(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
}
bool is_label(std::string_view label) noexcept {
  return !label.empty() && label.size() <= longest_label && label.front() != '-' &&
         label.back() != '-' && std::all_of(label.begin(), label.end(), is_of_a_label);
}
bool is_host(std::string_view name) noexcept {
  if (name.size() > longest_name) return false;
  std::string_view label;
  for (;;) {
    const std::size_t dot = name.find('.');
    label = name.substr(0, dot);
    if (!is_label(label)) return false;
    if (dot == std::string_view::npos) break;
    name.remove_prefix(dot + 1);
  }
  // "1.2.3" is an address that somebody mistyped.
  return !std::all_of(label.begin(), label.end(), is_digit);
}

/// Without ":port", and without the brackets of "[::1]:port".
std::string_view without_port(std::string_view text) noexcept {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return {};
    const std::string_view rest = text.substr(end + 1);
    return rest.empty() || rest.starts_with(':') ? text.substr(1, end - 1) : std::string_view();
  }
  const std::size_t colon = text.find(':');
  const bool is_v6 = colon != text.rfind(':');
  return is_v6 ? text : text.substr(0, colon);
}

}  // namespace

std::optional<ServerName> parse_server_name(std::string_view text) {
  const std::string_view part = without_port(text);
  ServerName name;
  if (const Result<net::IpAddr> address = net::IpAddr::parse(part)) {
    name.address = *address;
    return name;
  }
  name.host = part;
  for (char& c : name.host) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (name.host.ends_with('.')) name.host.pop_back();
  if (!is_host(name.host)) return std::nullopt;
  return name;
}

}  // namespace rouse::internal
