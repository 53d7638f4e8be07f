#include "tls/server_context.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <new>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/tls1.h>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "tls/session_limit.hpp"
#include "tls/tls_state.hpp"

namespace rouse::internal {
namespace {

/// Sessions are for those who ask for the same: one that was begun without a client's certificate,
/// or with one of another authority, is not resumed here.
void separate_sessions(SSL_CTX* ctx, const TlsServerSettings& settings) {
  const OwnedBy<EVP_MD_CTX, EVP_MD_CTX_free> hash(needed(EVP_MD_CTX_new()));
  needed(EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr));
  const char requires_one = settings.requires_certificate ? 1 : 0;
  needed(EVP_DigestUpdate(hash.get(), &requires_one, 1));
  for (const Certificate& authority : settings.client_authorities) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    needed(X509_digest(authority.get(), EVP_sha256(), digest.data(), &size));
    needed(EVP_DigestUpdate(hash.get(), digest.data(), size));
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> id{};
  unsigned size = 0;
  needed(EVP_DigestFinal_ex(hash.get(), id.data(), &size));
  needed(SSL_CTX_set_session_id_context(ctx, id.data(), size));
}

bool start_mac(EVP_MAC_CTX* mac, TlsTicketKey& key) {
  std::array<char, 7> hash{"SHA256"};
  const std::array<OSSL_PARAM, 3> parameters{
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key.signature.data(),
                                        key.signature.size()),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, hash.data(), 0),
      OSSL_PARAM_construct_end()};
  return EVP_MAC_CTX_set_params(mac, parameters.data()) == 1;
}

}  // namespace

TlsServerContext::TlsServerContext(const TlsServerSettings& settings, RefPtr<TlsTicketKeys> keys)
    : TlsContext(TLS_server_method(), settings),
      certificates_(settings.identities),
      alpn_(settings.alpn),
      keys_(std::move(keys)) {
  SSL_CTX* ctx = get();
  certificates_.use_first_for(ctx);
  SSL_CTX_set_cert_cb(ctx, choose_certificate, this);
  if (!alpn_.empty()) SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, this);
  SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  if (!settings.client_authorities.empty()) {
    ask_for_certificates(settings);
  } else if (settings.requires_certificate) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "require_client_certificate() needs a client_ca(): who issues them?");
  }
  give_tickets(settings);
}

void TlsServerContext::give_tickets(const TlsServerSettings& settings) {
  SSL_CTX* ctx = get();
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  separate_sessions(ctx, settings);
  if (!settings.gives_tickets) {
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    needed(SSL_CTX_set_num_tickets(ctx, 0));
    return;
  }
  using std::chrono::duration_cast;
  using std::chrono::seconds;
  SSL_CTX_set_timeout(ctx, duration_cast<seconds>(TlsTicketKeys::period).count());
  needed(SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, use_ticket_key));
}

void TlsServerContext::ask_for_certificates(const TlsServerSettings& settings) {
  const int required = settings.requires_certificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
  verify_peers(SSL_VERIFY_PEER | required);
  X509_STORE* store = SSL_CTX_get_cert_store(get());
  for (const Certificate& authority : settings.client_authorities) {
    needed(X509_STORE_add_cert(store, authority.get()));
    needed(SSL_CTX_add_client_CA(get(), authority.get()));
  }
  limit_sessions(get());
}

TlsState* TlsServerContext::begin() const {
  auto state = std::make_unique<TlsState>(RefPtr<const TlsContext>::share(this), "a client");
  SSL_set_accept_state(state->ssl.get());
  return state.release();
}

int TlsServerContext::choose_certificate(SSL* ssl, void* context) noexcept {
  const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  if (name == nullptr) return 1;
  return static_cast<const TlsServerContext*>(context)->certificates_.use_for(ssl, name) ? 1 : 0;
}

int TlsServerContext::choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                                      const unsigned char* offered, unsigned offered_size,
                                      void* context) noexcept {
  const std::string& ours = static_cast<const TlsServerContext*>(context)->alpn_;
  unsigned char* found = nullptr;
  const int result =
      SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(ours.data()),
                            static_cast<unsigned>(ours.size()), offered, offered_size);
  if (result != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

/// 0: the ticket is not ours. 1: go on. 2: go on, and give the client a new one. Below: an error.
int TlsServerContext::use_ticket_key(SSL* ssl, unsigned char* name, unsigned char* iv,
                                     EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac,
                                     int encrypts) noexcept try {
  const TlsState& state = TlsState::of(ssl);
  TlsTicketKeys& keys = *static_cast<const TlsServerContext&>(*state.context).keys_;
  if (encrypts != 0) {
    TlsTicketKey key = keys.current();
    std::copy(key.name.begin(), key.name.end(), name);
    if (RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) != 1) return -1;
    const bool ready =
        EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.encryption.data(), iv) == 1 &&
        start_mac(mac, key);
    return ready ? 1 : -1;
  }
  std::optional<TlsTicketKeys::Found> found =
      keys.find(std::span<const unsigned char, 16>(name, 16));
  if (!found) return 0;
  const bool ready = EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr,
                                        found->key.encryption.data(), iv) == 1 &&
                     start_mac(mac, found->key);
  if (!ready) return -1;
  // A ticket of TLS 1.3 is used once, so its client needs another.
  const bool is_used_up = SSL_version(ssl) >= TLS1_3_VERSION;
  return found->is_current && !is_used_up ? 1 : 2;
} catch (const std::bad_alloc&) {
  return -1;
}

}  // namespace rouse::internal
