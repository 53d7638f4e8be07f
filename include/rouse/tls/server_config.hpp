// ServerConfig: what a server shows, and what it asks of its clients.
//
//   auto config = tls::ServerConfig::pem("cert.pem", "key.pem").alpn({"h2", "http/1.1"});
//   tls::Acceptor acceptor(config);
//
// Files are read by the call that names them, on this thread. What is wrong in them is thrown as a
// std::system_error with the name of the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/tls/ticket_keys.hpp"
#include "rouse/tls/version.hpp"

namespace rouse::internal {
class TlsServerSettings;
class TlsServerContext;
}  // namespace rouse::internal

namespace rouse::tls {

class ROUSE_API ServerConfig {
 public:
  /// The server's certificate, with those of its issuers after it, and its key: PEM files.
  static ServerConfig pem(const std::string& certificate_file, const std::string& key_file);
  /// The same, of PEM text.
  static ServerConfig pem_text(std::string_view certificate, std::string_view key);
  ServerConfig(const ServerConfig& other);
  ServerConfig(ServerConfig&& other) noexcept;
  ServerConfig& operator=(ServerConfig other) noexcept;
  ~ServerConfig();

  /// Another certificate. A client gets the one that is for the name it asks for, else the first;
  /// of several with different kinds of keys, the one that it understands.
  ServerConfig& add_pem(const std::string& certificate_file, const std::string& key_file);
  /// The same, of PEM text.
  ServerConfig& add_pem_text(std::string_view certificate, std::string_view key);
  /// The protocols that this server speaks, the best first (ALPN). A client that offers others only
  /// is refused; one that offers none is not.
  ServerConfig& alpn(const std::vector<std::string>& protocols);
  /// Asks clients for a certificate, which must be issued by one of these authorities: a PEM file.
  /// A client without one is accepted. Several calls add up.
  ServerConfig& client_ca(const std::string& file);
  /// The same, of PEM text.
  ServerConfig& client_ca_text(std::string_view pem);
  /// A client without a certificate is refused. The Acceptor throws std::errc::invalid_argument if
  /// there is no client_ca.
  ServerConfig& require_client_certificate();
  /// The oldest version that is spoken. Default: TLS 1.2.
  ServerConfig& min_version(Version version);
  /// The newest one. Default: TLS 1.3.
  ServerConfig& max_version(Version version);
  /// How long a handshake may take. Default: 10 s.
  template <class Rep, class Period>
  ServerConfig& handshake_timeout(std::chrono::duration<Rep, Period> limit) {
    return set_handshake_timeout(internal::saturate(limit));
  }
  /// A handshake may take for ever.
  ServerConfig& no_handshake_timeout() { return set_handshake_timeout(time::Nanoseconds::max()); }
  /// The keys of session tickets, to share them with other processes. Default: keys of the
  /// Acceptor.
  ServerConfig& ticket_keys(TicketKeys keys);
  /// Sessions are not resumed.
  ServerConfig& no_tickets();

 private:
  friend class Acceptor;
  ServerConfig();
  ServerConfig& set_handshake_timeout(time::Nanoseconds limit);

  internal::Box<internal::TlsServerSettings> settings_;
};

}  // namespace rouse::tls
