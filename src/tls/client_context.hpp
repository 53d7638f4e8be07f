// TlsClientContext: what all connections of a Connector share.
#pragma once

#include <string_view>

#include "tls/context.hpp"
#include "tls/session_cache.hpp"
#include "tls/settings.hpp"

namespace rouse::internal {

class TlsClientContext final : public TlsContext {
 public:
  /// Throws std::bad_alloc.
  explicit TlsClientContext(const TlsClientSettings& settings);

  /// A connection to this server, before its handshake. With a bad name it has failed.
  [[nodiscard]] TlsState* begin(std::string_view server) const;
  void finish(TlsState& state) const override;

 private:
  void trust(const TlsClientSettings& settings);
  void keep(const TlsState& state, SslSessionPtr session) const;
  static int keep_session(SSL* ssl, SSL_SESSION* session) noexcept;

  mutable SessionCache sessions_;
};

}  // namespace rouse::internal
