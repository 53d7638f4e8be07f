// ConnectionInfo: what both ends of a TLS connection agreed on, and who the peer is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/tls/internal/session.hpp"
#include "rouse/tls/version.hpp"

namespace rouse::tls {

/// A base of tls::Stream. Views are valid as long as the connection lives.
/// Threads: as for reading and writing, one at a time.
class ROUSE_API ConnectionInfo {
 public:
  /// The version of the protocol.
  [[nodiscard]] Version version() const noexcept;
  /// As OpenSSL names it, e.g. "TLS_AES_256_GCM_SHA384".
  [[nodiscard]] std::string_view cipher() const noexcept;
  /// What ALPN chose, e.g. "h2". Empty if one of the ends did not ask.
  [[nodiscard]] std::string_view protocol() const noexcept;
  /// The name that the client asked for. Empty if it was an address.
  [[nodiscard]] std::string_view server_name() const noexcept;
  /// Whether the keys come from an earlier connection: no certificate was sent again.
  [[nodiscard]] bool is_resumed() const noexcept;
  /// To whom the peer's certificate was given, e.g. "CN=example.org,O=Example". Nothing if it has
  /// none. Of a server the name was checked, so nobody needs this.
  [[nodiscard]] std::optional<std::string> peer_subject() const;
  /// The peer's certificate in DER, for who reads more of it. Nothing if it has none.
  [[nodiscard]] std::optional<std::string> peer_certificate() const;

 protected:
  explicit ConnectionInfo(internal::TlsSession session) noexcept : session_(std::move(session)) {}
  [[nodiscard]] internal::TlsSession& session() noexcept { return session_; }

 private:
  internal::TlsSession session_;
};

}  // namespace rouse::tls
