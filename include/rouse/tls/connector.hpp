// Connector: the client's end of TLS connections.
//
//   tls::Connector connector;                                       // for the servers of the
//   internet auto tcp = co_await net::TcpStream::connect("example.org:443"); auto peer = co_await
//   connector.connect(std::move(tcp), "example.org:443");
//
// Make one and keep it: it has the trusted authorities, and the sessions of earlier connections.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/tls/client_config.hpp"
#include "rouse/tls/internal/handshake.hpp"
#include "rouse/tls/internal/session.hpp"
#include "rouse/tls/stream.hpp"

namespace rouse::tls {

/// Copies share everything.
/// Threads: any.
class ROUSE_API Connector {
 public:
  /// With ClientConfig().
  Connector();
  explicit Connector(const ClientConfig& config);
  Connector(const Connector& other) noexcept;
  Connector(Connector&& other) noexcept;
  Connector& operator=(Connector other) noexcept;
  ~Connector();

  /// Does the handshake with the server at the other end of `stream`, whose certificate must be for
  /// `server`: a host name or an IP address, with a port or without. (Sessions are kept for each
  /// text apart.) Completes when the server has proved who it is.
  /// Cancel safety: if dropped midway, the handshake is given up and the stream is closed.
  /// Threads: any; a runtime's, unless the config has no_handshake_timeout().
  /// Errors: those of tls::Error and tls::Alert, and the stream's; DeadlineError::passed.
  template <class S>
  [[nodiscard]] AsyncResult<Stream<S>> connect(S stream, std::string_view server) const {
    return internal::tls_handshake(std::move(stream), begin(server));
  }

 private:
  /// Also of a bad name: then its handshake fails.
  [[nodiscard]] internal::TlsSession begin(std::string_view server) const;

  RefPtr<internal::TlsClientContext> context_;
};

}  // namespace rouse::tls
