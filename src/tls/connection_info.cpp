#include "rouse/tls/connection_info.hpp"

#include <cstddef>

#include "tls/failure.hpp"
#include "tls/tls_state.hpp"

namespace rouse::tls {
namespace {

SSL* ssl_of(const internal::TlsSession& session) noexcept { return session.state().ssl.get(); }

const X509* certificate_of(const internal::TlsSession& session) noexcept {
  return SSL_get0_peer_certificate(ssl_of(session));
}

}  // namespace

Version ConnectionInfo::version() const noexcept {
  return SSL_version(ssl_of(session_)) >= TLS1_3_VERSION ? Version::tls_1_3 : Version::tls_1_2;
}

std::string_view ConnectionInfo::cipher() const noexcept {
  return SSL_CIPHER_get_name(SSL_get_current_cipher(ssl_of(session_)));
}

std::string_view ConnectionInfo::protocol() const noexcept {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_of(session_), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

std::string_view ConnectionInfo::server_name() const noexcept {
  const char* name = SSL_get_servername(ssl_of(session_), TLSEXT_NAMETYPE_host_name);
  return name != nullptr ? name : std::string_view();
}

bool ConnectionInfo::is_resumed() const noexcept {
  return SSL_session_reused(ssl_of(session_)) != 0;
}

std::optional<std::string> ConnectionInfo::peer_subject() const {
  const X509* certificate = certificate_of(session_);
  if (certificate == nullptr) return std::nullopt;
  return internal::subject_of(certificate);
}

std::optional<std::string> ConnectionInfo::peer_certificate() const {
  const X509* certificate = certificate_of(session_);
  if (certificate == nullptr) return std::nullopt;
  std::string der(static_cast<std::size_t>(i2d_X509(certificate, nullptr)), '\0');
  auto* out = reinterpret_cast<unsigned char*>(der.data());
  i2d_X509(certificate, &out);
  return der;
}

}  // namespace rouse::tls
