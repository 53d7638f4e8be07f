// tls::Error and tls::Alert: why a TLS connection failed, as this end and as the other one says.
//
//   auto peer = co_await connector.connect(std::move(stream), "example.org").result();
//   if (peer.error() == tls::Error::certificate_expired) ...
//   if (peer.error() == tls::Alert::handshake_failure) ...    // the peer said so
//
// Without `result()` a failed handshake throws a std::system_error whose text also has what the
// code can't say: with whom, and for which names the certificate is.
#pragma once

#include <cstdint>
#include <system_error>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::tls {

/// What this end found.
enum class Error {
  // The peer's certificate.
  certificate_expired = 1,
  certificate_not_yet_valid,
  wrong_name,        ///< it is for another host
  self_signed,       ///< it is signed by itself, and not among the trusted ones
  unknown_issuer,    ///< no trusted authority is behind it, or an intermediate one was not sent
  bad_purpose,       ///< it is not for a server, or not for a client
  weak_certificate,  ///< its key or its signature's hash is too weak
  bad_certificate,   ///< anything else
  no_certificate,    ///< a client has none, and must have
  // The handshake.
  not_tls,  ///< what came is no TLS
  no_common_version,
  no_common_cipher,
  no_common_protocol,  ///< ALPN: the client offers none that the server has
  handshake_timeout,   ///< equals std::errc::timed_out, too
  bad_server_name,     ///< what was asked for is neither a host name nor an IP address
  // The connection.
  protocol_violation,  ///< the peer breaks the rules
  corrupt_record,      ///< a record was changed on its way
  forced_output,       ///< the peer makes us answer more and more, and reads nothing
  // Configuration: std::errc::invalid_argument, too.
  bad_pem,         ///< no certificate or key in what should have one
  key_mismatch,    ///< the key is not that of the certificate
  bad_alpn,        ///< the name of a protocol is empty or longer than 255 bytes
  bad_ticket_key,  ///< a secret for tickets has fewer than 32 bytes
};

/// What the peer said before it ended the connection (RFC 8446, section 6).
enum class Alert : std::uint8_t {
  unexpected_message = 10,
  bad_record_mac = 20,
  record_overflow = 22,
  handshake_failure = 40,
  bad_certificate = 42,
  unsupported_certificate = 43,
  certificate_revoked = 44,
  certificate_expired = 45,
  certificate_unknown = 46,
  illegal_parameter = 47,
  unknown_ca = 48,
  access_denied = 49,
  decode_error = 50,
  decrypt_error = 51,
  protocol_version = 70,
  insufficient_security = 71,
  internal_error = 80,
  inappropriate_fallback = 86,
  user_canceled = 90,
  no_renegotiation = 100,
  missing_extension = 109,
  unsupported_extension = 110,
  unrecognized_name = 112,
  bad_certificate_status_response = 113,
  unknown_psk_identity = 115,
  certificate_required = 116,
  no_application_protocol = 120,
};

ROUSE_API const std::error_category& error_category() noexcept;
ROUSE_API const std::error_category& alert_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(Error error) noexcept {
  return {static_cast<int>(error), error_category()};
}
[[nodiscard]] inline std::error_code make_error_code(Alert alert) noexcept {
  return {static_cast<int>(alert), alert_category()};
}

}  // namespace rouse::tls

template <>
struct std::is_error_code_enum<rouse::tls::Error> : std::true_type {};
template <>
struct std::is_error_code_enum<rouse::tls::Alert> : std::true_type {};
