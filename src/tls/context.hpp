// TlsContext: what all connections of one configuration share: OpenSSL's SSL_CTX, and what its
// callbacks need.
#pragma once

#include <string>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/time/instant.hpp"

#include "tls/openssl.hpp"
#include "tls/settings.hpp"

namespace rouse::internal {

class TlsState;

class TlsContext : public RefCounted<TlsContext> {
 public:
  virtual ~TlsContext();

  [[nodiscard]] SSL_CTX* get() const noexcept { return context_.get(); }
  [[nodiscard]] time::Nanoseconds handshake_timeout() const noexcept { return timeout_; }

  /// The handshake of this connection is over.
  virtual void finish(TlsState&) const {}

  /// Certificates of peers are checked, and what is wrong with one is noted in its TlsState.
  void verify_peers(int mode);

 protected:
  /// Throws std::bad_alloc.
  TlsContext(const SSL_METHOD* method, const TlsSettings& settings);

 private:
  SslContextPtr context_;
  time::Nanoseconds timeout_;
};

}  // namespace rouse::internal
