// ClientConfig: what a client asks of a server and shows of itself. Without any call it is right
// for the servers of the internet: the system's authorities are trusted, the certificate is
// verified, TLS 1.2 and 1.3.
//
//   auto config = tls::ClientConfig().trust_file("our_ca.pem").alpn({"h2", "http/1.1"});
//   tls::Connector connector(config);
//
// Files are read by the call that names them, on this thread. What is wrong in them is thrown as a
// std::system_error with the name of the file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/tls/version.hpp"

namespace rouse::internal {
class TlsClientSettings;
class TlsClientContext;
}  // namespace rouse::internal

namespace rouse::tls {

class ROUSE_API ClientConfig {
 public:
  ClientConfig();
  ClientConfig(const ClientConfig& other);
  ClientConfig(ClientConfig&& other) noexcept;
  ClientConfig& operator=(ClientConfig other) noexcept;
  ~ClientConfig();

  /// Trusts the certificates in a PEM file, instead of the system's. Several calls add up.
  ClientConfig& trust_file(const std::string& path);
  /// The same, of PEM text.
  ClientConfig& trust_pem(std::string_view pem);
  /// Trusts the system's too.
  ClientConfig& trust_system();
  /// The certificate that is shown to a server that asks, with those of its issuers, and its key:
  /// PEM files.
  ClientConfig& certificate(const std::string& certificate_file, const std::string& key_file);
  /// The same, of PEM text.
  ClientConfig& certificate_pem(std::string_view certificate, std::string_view key);
  /// The protocols to offer, the best first (ALPN).
  ClientConfig& alpn(const std::vector<std::string>& protocols);
  /// The oldest version that is spoken. Default: TLS 1.2.
  ClientConfig& min_version(Version version);
  /// The newest one. Default: TLS 1.3.
  ClientConfig& max_version(Version version);
  /// How long a handshake may take. Default: 10 s.
  template <class Rep, class Period>
  ClientConfig& handshake_timeout(std::chrono::duration<Rep, Period> limit) {
    return set_handshake_timeout(internal::saturate(limit));
  }
  /// A handshake may take for ever.
  ClientConfig& no_handshake_timeout() { return set_handshake_timeout(time::Nanoseconds::max()); }
  /// Of how many servers sessions are kept, so that the next handshake is short. Default: 256.
  ClientConfig& remember_sessions(std::size_t servers);
  /// Accepts whatever certificate a server shows. Anybody on the way can then read and change
  /// everything. For tests, and for peers that are verified in another way.
  ClientConfig& dangerously_accept_any_certificate();

 private:
  friend class Connector;
  ClientConfig& set_handshake_timeout(time::Nanoseconds limit);

  internal::Box<internal::TlsClientSettings> settings_;
};

}  // namespace rouse::tls
