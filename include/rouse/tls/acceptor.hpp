// Acceptor: the server's end of TLS connections.
//
//   tls::Acceptor acceptor(tls::ServerConfig::pem("cert.pem", "key.pem"));
//   auto [tcp, from] = co_await listener.accept();
//   auto peer = co_await acceptor.accept(std::move(tcp));       // in a task of its own
//
// Do the handshake in the task of the connection, not in the loop that accepts: it takes as long as
// the client likes, up to the handshake's timeout.
#pragma once

#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/tls/internal/handshake.hpp"
#include "rouse/tls/internal/session.hpp"
#include "rouse/tls/server_config.hpp"
#include "rouse/tls/stream.hpp"

namespace rouse::internal {
class TlsAcceptorCore;
}  // namespace rouse::internal

namespace rouse::tls {

/// Copies share everything.
/// Threads: any.
class ROUSE_API Acceptor {
 public:
  explicit Acceptor(const ServerConfig& config);
  Acceptor(const Acceptor& other) noexcept;
  Acceptor(Acceptor&& other) noexcept;
  Acceptor& operator=(Acceptor other) noexcept;
  ~Acceptor();

  /// Does the handshake with the client at the other end of `stream`. Completes when the client has
  /// done its part.
  /// Cancel safety: if dropped midway, the handshake is given up and the stream is closed.
  /// Threads: any; a runtime's, unless the config has no_handshake_timeout().
  /// Errors: those of tls::Error and tls::Alert, and the stream's; DeadlineError::passed.
  template <class S>
  [[nodiscard]] AsyncResult<Stream<S>> accept(S stream) const {
    return internal::tls_handshake(std::move(stream), begin());
  }

  /// Handshakes that begin after this use the new configuration, for example with a renewed
  /// certificate. Others, and connections, keep the one they began with. Sessions of clients stay
  /// valid, unless other client certificates are asked for now.
  void reload(const ServerConfig& config);

 private:
  [[nodiscard]] internal::TlsSession begin() const;

  RefPtr<internal::TlsAcceptorCore> core_;
};

}  // namespace rouse::tls
