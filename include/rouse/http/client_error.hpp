// What a client's request may fail with, besides the errors of http::Error, io, net, tls and of
// the system: ClientError. And StatusError, which Reply::check throws.
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/http/status.hpp"

namespace rouse::http {

/// Why a request of a client failed: see the top of this file.
enum class ClientError {
  bad_url = 1,         ///< no URL, not one of http or https, or longer than 8 KiB
  address_refused,     ///< allow_address refused all addresses of the host
  proxy_refused,       ///< the proxy did not open a tunnel
  too_many_redirects,  ///< more than allowed: perhaps they lead in a circle
  insecure_redirect,   ///< from https to http
  unrepeatable_body,   ///< a redirect asks for the body again, and it was read from a stream
  bad_encoding,        ///< a body is not what its Content-Encoding says
  unexpected_upgrade,  ///< the server switched to a protocol that nobody asked for
};

/// "rouse.http.client".
ROUSE_API const std::error_category& client_error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(ClientError error) noexcept {
  return {static_cast<int>(error), client_error_category()};
}

/// A status of 400 or more.
class ROUSE_API StatusError : public std::runtime_error {
 public:
  StatusError(http::Status status, const std::string& url);
  ~StatusError() override;
  /// The status that it stands for.
  [[nodiscard]] http::Status status() const noexcept { return status_; }

 private:
  http::Status status_;
};

}  // namespace rouse::http

template <>
struct std::is_error_code_enum<rouse::http::ClientError> : std::true_type {};
