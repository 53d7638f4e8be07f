#include "tls/context.hpp"

#include <algorithm>
#include <openssl/err.h>
#include <system_error>

#include "rouse/tls/error.hpp"

#include "tls/tls_state.hpp"

namespace rouse::internal {
namespace {

/// What Debian has as its default.
constexpr int least_security_level = 2;

int number_of(tls::Version version) noexcept {
  return version == tls::Version::tls_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION;
}

/// Called within a handshake. What is known of a bad certificate is known only here.
int verify(X509_STORE_CTX* checked, void*) noexcept {
  const int result = X509_verify_cert(checked);
  if (result > 0) return result;
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(checked, SSL_get_ex_data_X509_STORE_CTX_idx()));
  try {
    TlsState::of(ssl).detail = describe_verification(checked);
  } catch (const std::bad_alloc&) {
    // The code says enough.
    return result;
  }
  return result;
}

}  // namespace

TlsContext::TlsContext(const SSL_METHOD* method, const TlsSettings& settings)
    : context_(needed(SSL_CTX_new(method))), timeout_(settings.handshake_timeout) {
  SSL_CTX* ctx = get();
  needed(SSL_CTX_set_min_proto_version(ctx, number_of(settings.min_version)));
  needed(SSL_CTX_set_max_proto_version(ctx, number_of(settings.max_version)));
  SSL_CTX_set_security_level(ctx, std::max(SSL_CTX_get_security_level(ctx), least_security_level));
  // Of TLS 1.2 only what has forward secrecy and authenticates what it encrypts.
  needed(SSL_CTX_set_cipher_list(ctx, "ECDHE+AESGCM:ECDHE+CHACHA20"));
  SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
}

TlsContext::~TlsContext() = default;

void TlsContext::verify_peers(int mode) {
  SSL_CTX_set_verify(get(), mode, nullptr);
  SSL_CTX_set_cert_verify_callback(get(), verify, nullptr);
  // Whoever is named is trusted, also one whose own issuer is not.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(get()), X509_V_FLAG_PARTIAL_CHAIN);
}

std::string encode_alpn(const std::vector<std::string>& protocols) {
  std::string encoded;
  for (const std::string& protocol : protocols) {
    if (protocol.empty() || protocol.size() > 255)
      throw std::system_error(tls::Error::bad_alpn, '"' + protocol + '"');
    encoded += static_cast<char>(protocol.size());
    encoded += protocol;
  }
  return encoded;
}

}  // namespace rouse::internal
