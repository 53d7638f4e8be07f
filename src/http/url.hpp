// URLs of http and https, as a client uses them. uriparser reads them; what it leaves open is
// judged here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rouse::http {

/// Whom a connection is to: what credentials and connections belong to.
struct UrlOrigin {
  bool is_secure = false;
  std::string host;  // lower case; an IPv6 address without brackets
  std::uint16_t port = 0;

  /// "host:port", for CONNECT.
  [[nodiscard]] std::string host_and_port() const;
  /// The same without the port if that is the usual one: for Host.
  [[nodiscard]] std::string authority() const;
  /// "https://host"
  [[nodiscard]] std::string text() const;
  friend bool operator==(const UrlOrigin&, const UrlOrigin&) = default;
};

struct Url {
  UrlOrigin origin;
  std::string target;       // the path and the query
  std::string credentials;  // "user:password", decoded; they stand nowhere else

  /// Without credentials and fragment.
  [[nodiscard]] std::string text() const { return origin.text() + target; }
};

/// Nothing: it is no URL of http or https.
[[nodiscard]] std::optional<Url> parse_url(std::string_view text);
/// What a Location means that came from `base`.
[[nodiscard]] std::optional<Url> resolve_url(const Url& base, std::string_view reference);

/// "Basic dXNlcjpwYXNzd29yZA==", for Authorization.
[[nodiscard]] std::string basic_credentials(std::string_view user_and_password);

}  // namespace rouse::http
