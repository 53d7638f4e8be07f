#include "http/url.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <uriparser/Uri.h>

#include "http/head.hpp"
#include "http/text.hpp"

namespace rouse::http {
namespace {

/// uriparser 0.9.7 recurses on long input.
constexpr std::size_t longest_url = std::size_t{8} * 1024;

std::string_view text_of(const UriTextRangeA& range) noexcept {
  if (range.first == nullptr) return {};
  return {range.first, static_cast<std::size_t>(range.afterLast - range.first)};
}

/// A parsed URI: its ranges point into the text it was made from.
class ParsedUri {
 public:
  ParsedUri() noexcept = default;
  ParsedUri(const ParsedUri&) = delete;
  ParsedUri& operator=(const ParsedUri&) = delete;
  ~ParsedUri() { uriFreeUriMembersA(&uri_); }

  /// Once. `text` must outlive this.
  [[nodiscard]] bool parse(std::string_view text) {
    if (text.size() > longest_url) return false;
    return uriParseSingleUriExA(&uri_, text.data(), text.data() + text.size(), nullptr) ==
           URI_SUCCESS;
  }
  [[nodiscard]] bool resolve(const ParsedUri& reference, const ParsedUri& base) {
    return uriAddBaseUriA(&uri_, &reference.uri_, &base.uri_) == URI_SUCCESS;
  }
  /// Removes "." and "..", which servers refuse.
  [[nodiscard]] bool normalize() {
    return uriNormalizeSyntaxExA(&uri_, URI_NORMALIZE_PATH) == URI_SUCCESS;
  }
  [[nodiscard]] const UriUriA& get() const noexcept { return uri_; }

 private:
  UriUriA uri_{};
};

std::optional<std::uint16_t> port_of(const UriUriA& uri, bool is_secure) noexcept {
  const std::string_view text = text_of(uri.portText);
  if (text.empty()) return static_cast<std::uint16_t>(is_secure ? 443 : 80);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

/// A name or an address: nothing that a resolver, a proxy and a server might read differently.
std::optional<std::string> host_of(const UriUriA& uri) {
  const std::string_view text = text_of(uri.hostText);
  const bool is_unknown_address = uri.hostData.ipFuture.first != nullptr;
  if (text.empty() || text.size() > 255 || is_unknown_address) return std::nullopt;
  std::string host(text);
  std::ranges::transform(host, host.begin(), lower);
  if (uri.hostData.ip6 != nullptr) return host;
  const auto is_plain = [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_';
  };
  if (!std::ranges::all_of(host, is_plain)) return std::nullopt;
  return host;
}

std::string target_of(const UriUriA& uri) {
  std::string target;
  for (const UriPathSegmentA* segment = uri.pathHead; segment != nullptr; segment = segment->next) {
    target.append(1, '/').append(text_of(segment->text));
  }
  if (target.empty()) target = "/";
  if (uri.query.first != nullptr) target.append(1, '?').append(text_of(uri.query));
  return target;
}

std::optional<Url> url_of(ParsedUri& parsed) {
  if (!parsed.normalize()) return std::nullopt;
  const UriUriA& uri = parsed.get();
  Url url;
  url.origin.is_secure = are_same_name(text_of(uri.scheme), "https");
  if (!url.origin.is_secure && !are_same_name(text_of(uri.scheme), "http")) return std::nullopt;
  const auto port = port_of(uri, url.origin.is_secure);
  auto host = host_of(uri);
  auto credentials = percent_decoded(text_of(uri.userInfo));
  if (!port || !host || !credentials) return std::nullopt;
  url.origin.port = *port;
  url.origin.host = *std::move(host);
  url.credentials = *std::move(credentials);
  url.target = target_of(uri);
  return url;
}

/// Servers write into a Location what a URL can't have, and browsers encode it.
std::string encoded_where_needed(std::string_view text) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7F &&
        std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos) {
      encoded += c;
    } else {
      encoded.append(1, '%').append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
  }
  return encoded;
}

}  // namespace

std::string UrlOrigin::host_and_port() const {
  const bool is_ip6 = host.find(':') != std::string::npos;
  return (is_ip6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

std::string UrlOrigin::authority() const {
  std::string text = host_and_port();
  if (port == (is_secure ? 443 : 80)) text.resize(text.rfind(':'));
  return text;
}

std::string UrlOrigin::text() const {
  return (is_secure ? std::string("https://") : std::string("http://")) + authority();
}

std::optional<Url> parse_url(std::string_view text) {
  ParsedUri uri;
  if (!uri.parse(text)) return std::nullopt;
  return url_of(uri);
}

std::optional<Url> resolve_url(const Url& base, std::string_view location) {
  if (location.size() > longest_url) return std::nullopt;
  const std::string reference = encoded_where_needed(location);
  const std::string base_text = base.text();
  ParsedUri base_uri;
  ParsedUri reference_uri;
  ParsedUri resolved;
  if (!base_uri.parse(base_text) || !reference_uri.parse(reference) ||
      !resolved.resolve(reference_uri, base_uri)) {
    return std::nullopt;
  }
  return url_of(resolved);
}

std::string basic_credentials(std::string_view text) {
  static constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string encoded = "Basic ";
  while (!text.empty()) {
    const std::string_view three = text.substr(0, 3);
    text.remove_prefix(three.size());
    unsigned bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      encoded += i <= three.size() ? digits[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return encoded;
}

}  // namespace rouse::http
