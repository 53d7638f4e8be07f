// What configurations hold: values, already checked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rouse/base/internal/durations.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/tls/ticket_keys.hpp"
#include "rouse/tls/version.hpp"

#include "tls/openssl.hpp"
#include "tls/pem.hpp"

namespace rouse::internal {

struct TlsSettings {
  tls::Version min_version = tls::Version::tls_1_2;
  tls::Version max_version = tls::Version::tls_1_3;
  time::Nanoseconds handshake_timeout = std::chrono::seconds(10);
  std::string alpn;  // as it is sent: each name after its length
};

class TlsClientSettings : public TlsSettings {
 public:
  std::vector<Certificate> trusted;
  bool trusts_system = false;  // besides those in `trusted`; without any it does
  std::optional<Identity> identity;
  std::size_t remembered_servers = 256;
  bool accepts_any = false;
};

class TlsServerSettings : public TlsSettings {
 public:
  std::vector<Identity> identities;
  std::vector<Certificate> client_authorities;
  bool requires_certificate = false;
  bool gives_tickets = true;
  std::optional<tls::TicketKeys> ticket_keys;
};

/// Throws std::system_error with tls::Error::bad_alpn.
std::string encode_alpn(const std::vector<std::string>& protocols);

}  // namespace rouse::internal
