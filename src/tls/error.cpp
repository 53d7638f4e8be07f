#include "rouse/tls/error.hpp"

#include <string>

namespace rouse::tls {
namespace {

const char* message_of(Error error) noexcept {
  switch (error) {
    case Error::certificate_expired:
      return "the peer's certificate has expired";
    case Error::certificate_not_yet_valid:
      return "the peer's certificate is not yet valid: is the clock right?";
    case Error::wrong_name:
      return "the peer's certificate is for another name";
    case Error::self_signed:
      return "the peer's certificate is signed by itself: to trust it, give it to trust_file";
    case Error::unknown_issuer:
      return "the peer's certificate comes from nobody that is trusted here, or the peer did not "
             "send the "
             "certificates in between";
    case Error::bad_purpose:
      return "the peer's certificate is not for this purpose";
    case Error::weak_certificate:
      return "a key or a hash of the peer's certificates is too weak";
    case Error::bad_certificate:
      return "the peer's certificate is not valid";
    case Error::no_certificate:
      return "the client has no certificate, which is required here";
    case Error::not_tls:
      return "the peer does not speak TLS";
    case Error::no_common_version:
      return "the peer speaks no version of TLS that is allowed here";
    case Error::no_common_cipher:
      return "there is no cipher that both ends know";
    case Error::no_common_protocol:
      return "the client offers no protocol (ALPN) that this server speaks";
    case Error::handshake_timeout:
      return "the handshake took too long";
    case Error::bad_server_name:
      return "this is neither the name of a host nor an IP address";
    case Error::protocol_violation:
      return "the peer breaks the rules of TLS";
    case Error::corrupt_record:
      return "what came was changed on its way";
    case Error::forced_output:
      return "the peer makes this end answer, and does not read";
    case Error::bad_pem:
      return "this is not what it should be in PEM";
    case Error::key_mismatch:
      return "the key does not belong to the certificate";
    case Error::bad_alpn:
      return "the name of a protocol (ALPN) is empty or longer than 255 bytes";
    case Error::bad_ticket_key:
      return "a secret for session tickets needs at least 32 random bytes";
  }
  return "unknown error";
}

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rouse.tls"; }
  std::string message(int value) const override { return message_of(static_cast<Error>(value)); }
  std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<Error>(value)) {
      case Error::handshake_timeout:
        return std::make_error_condition(std::errc::timed_out);
      case Error::bad_server_name:
      case Error::bad_pem:
      case Error::key_mismatch:
      case Error::bad_alpn:
      case Error::bad_ticket_key:
        return std::make_error_condition(std::errc::invalid_argument);
      default:
        return {value, *this};
    }
  }
};

const char* name_of(Alert alert) noexcept {
  switch (alert) {
    case Alert::unexpected_message:
      return "unexpected_message";
    case Alert::bad_record_mac:
      return "bad_record_mac";
    case Alert::record_overflow:
      return "record_overflow";
    case Alert::handshake_failure:
      return "handshake_failure";
    case Alert::bad_certificate:
      return "bad_certificate";
    case Alert::unsupported_certificate:
      return "unsupported_certificate";
    case Alert::certificate_revoked:
      return "certificate_revoked";
    case Alert::certificate_expired:
      return "certificate_expired";
    case Alert::certificate_unknown:
      return "certificate_unknown";
    case Alert::illegal_parameter:
      return "illegal_parameter";
    case Alert::unknown_ca:
      return "unknown_ca";
    case Alert::access_denied:
      return "access_denied";
    case Alert::decode_error:
      return "decode_error";
    case Alert::decrypt_error:
      return "decrypt_error";
    case Alert::protocol_version:
      return "protocol_version";
    case Alert::insufficient_security:
      return "insufficient_security";
    case Alert::internal_error:
      return "internal_error";
    case Alert::inappropriate_fallback:
      return "inappropriate_fallback";
    case Alert::user_canceled:
      return "user_canceled";
    case Alert::no_renegotiation:
      return "no_renegotiation";
    case Alert::missing_extension:
      return "missing_extension";
    case Alert::unsupported_extension:
      return "unsupported_extension";
    case Alert::unrecognized_name:
      return "unrecognized_name";
    case Alert::bad_certificate_status_response:
      return "bad_certificate_status_response";
    case Alert::unknown_psk_identity:
      return "unknown_psk_identity";
    case Alert::certificate_required:
      return "certificate_required";
    case Alert::no_application_protocol:
      return "no_application_protocol";
  }
  return nullptr;
}

class AlertCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rouse.tls.alert"; }
  std::string message(int value) const override {
    const char* known = name_of(static_cast<Alert>(value));
    return "the peer ended the connection: " +
           (known != nullptr ? std::string(known) : "alert " + std::to_string(value));
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}
const std::error_category& alert_category() noexcept {
  static const AlertCategory category;
  return category;
}

}  // namespace rouse::tls
