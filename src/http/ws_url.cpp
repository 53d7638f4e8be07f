#include "http/ws_url.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "http/head.hpp"
#include "http/text.hpp"

namespace rouse::http::ws {
namespace {

constexpr std::size_t longest_url = std::size_t{8} * 1024;

/// A name, an IPv4 address, or an IPv6 address in brackets; the stricter rules are the lookup's.
bool is_host(std::string_view host) noexcept {
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  return !host.empty() && std::ranges::all_of(host, [&](char c) {
    return is_letter(c) || is_digit(c) || c == '.' ||
           (is_bracketed ? c == ':' : c == '-' || c == '_');
  });
}

bool is_port(std::string_view text) noexcept {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port != 0;
}

}  // namespace

std::optional<SocketUrl> parse_socket_url(std::string_view text) {
  if (text.size() > longest_url) return std::nullopt;
  const std::size_t mark = text.find("://");
  if (mark == std::string_view::npos) return std::nullopt;
  SocketUrl url;
  url.is_secure = are_same_name(text.substr(0, mark), "wss");
  if (!url.is_secure && !are_same_name(text.substr(0, mark), "ws")) return std::nullopt;
  text.remove_prefix(mark + 3);

  const std::size_t authority_size = std::min(text.find_first_of("/?#"), text.size());
  const std::string_view authority = text.substr(0, authority_size);
  const std::string_view target = text.substr(authority_size);
  const std::size_t colon = authority.find(':', authority.find(']') + 1);  // npos + 1 is 0
  const std::string_view host = authority.substr(0, colon);
  std::string_view port = url.is_secure ? "443" : "80";
  url.host = host;
  if (colon != std::string_view::npos) {
    const std::string_view given = authority.substr(colon + 1);
    if (given != port) url.host = authority;
    port = given;
  }
  url.target = target.starts_with('/') ? target : "/" + std::string(target);
  if (!is_host(host) || !is_port(port) || !is_target(url.target) ||
      url.target.find('#') != std::string::npos) {
    return std::nullopt;
  }
  url.endpoint = std::string(host) + ":" + std::string(port);
  return url;
}

}  // namespace rouse::http::ws
