// TlsServerContext: what all connections of one configuration of an Acceptor share.
#pragma once

#include <string>

#include "rouse/base/ref_ptr.hpp"

#include "tls/certificates.hpp"
#include "tls/context.hpp"
#include "tls/settings.hpp"
#include "tls/ticket_keys.hpp"

namespace rouse::internal {

class TlsServerContext final : public TlsContext {
 public:
  /// Throws std::bad_alloc; std::system_error of a certificate that OpenSSL does not like.
  TlsServerContext(const TlsServerSettings& settings, RefPtr<TlsTicketKeys> keys);

  /// A connection to a client, before its handshake.
  [[nodiscard]] TlsState* begin() const;

 private:
  void give_tickets(const TlsServerSettings& settings);
  void ask_for_certificates(const TlsServerSettings& settings);

  // OpenSSL calls these.
  static int choose_certificate(SSL* ssl, void* context) noexcept;
  static int choose_protocol(SSL* ssl, const unsigned char** chosen, unsigned char* size,
                             const unsigned char* offered, unsigned offered_size,
                             void* context) noexcept;
  static int use_ticket_key(SSL* ssl, unsigned char* name, unsigned char* iv,
                            EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac, int encrypts) noexcept;

  const Certificates certificates_;
  const std::string alpn_;
  const RefPtr<TlsTicketKeys> keys_;
};

}  // namespace rouse::internal
