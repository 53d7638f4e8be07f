#include "tls/client_context.hpp"

#include <memory>
#include <new>
#include <openssl/x509v3.h>
#include <string>
#include <utility>

#include "rouse/tls/error.hpp"

#include "tls/certificates.hpp"
#include "tls/server_name.hpp"
#include "tls/system_roots.hpp"
#include "tls/tls_state.hpp"

namespace rouse::internal {
namespace {

/// The certificate must be for this name, and for nothing that only resembles it.
void expect(SSL* ssl, const ServerName& name) {
  SSL_set_hostflags(ssl,
                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (!name.address) {
    needed(SSL_set1_host(ssl, name.host.c_str()));
    // What SSL_set_tlsext_host_name does, which is a macro with a cast that GCC warns of.
    std::string host = name.host;
    needed(SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data()));
    return;
  }
  needed(X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.address->to_string().c_str()));
}

}  // namespace

TlsClientContext::TlsClientContext(const TlsClientSettings& settings)
    : TlsContext(TLS_client_method(), settings), sessions_(settings.remembered_servers) {
  SSL_CTX* ctx = get();
  if (!settings.accepts_any) trust(settings);
  if (settings.identity) use_identity(ctx, *settings.identity);
  if (!settings.alpn.empty()) {
    const auto* names = reinterpret_cast<const unsigned char*>(settings.alpn.data());
    // This one gives 0 when it succeeds.
    if (SSL_CTX_set_alpn_protos(ctx, names, static_cast<unsigned>(settings.alpn.size())) != 0)
      throw std::bad_alloc();
  }
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(ctx, keep_session);
}

void TlsClientContext::trust(const TlsClientSettings& settings) {
  verify_peers(SSL_VERIFY_PEER);
  if (settings.trusted.empty()) {
    SSL_CTX_set1_cert_store(get(), system_roots().get());
    return;
  }
  X509_STORE* store = SSL_CTX_get_cert_store(get());
  for (const Certificate& certificate : settings.trusted)
    needed(X509_STORE_add_cert(store, certificate.get()));
  if (settings.trusts_system) add_system_roots(store);
}

TlsState* TlsClientContext::begin(std::string_view server) const {
  auto state =
      std::make_unique<TlsState>(RefPtr<const TlsContext>::share(this), std::string(server));
  const std::optional<ServerName> name = parse_server_name(server);
  if (!name) {
    state->fail({tls::Error::bad_server_name, ""});
    return state.release();
  }
  SSL* ssl = state->ssl.get();
  SSL_set_connect_state(ssl);
  expect(ssl, *name);
  state->session_key = server;
  state->verified_at = time::now();
  if (const SessionCache::Kept known = sessions_.take(state->session_key); known.session) {
    needed(SSL_set_session(ssl, known.session.get()));
    state->resumed_from = known.session.get();
    state->resumed_verified_at = known.verified_at;
  }
  return state.release();
}

void TlsClientContext::finish(TlsState& state) const {
  SSL* ssl = state.ssl.get();
  if (SSL_session_reused(ssl) == 0) return;
  state.verified_at = state.resumed_verified_at;
  // Of a ticket that replaces one of TLS 1.2, OpenSSL does not call back.
  if (SSL_version(ssl) < TLS1_3_VERSION && SSL_get0_session(ssl) != state.resumed_from)
    keep(state, SslSessionPtr(SSL_get1_session(ssl)));
}

void TlsClientContext::keep(const TlsState& state, SslSessionPtr session) const {
  sessions_.put(state.session_key, SessionCache::Kept{state.verified_at, std::move(session)});
}

/// Called when the server gave a ticket. 0: what we keep is a reference of our own.
int TlsClientContext::keep_session(SSL* ssl, SSL_SESSION* session) noexcept try {
  const TlsState& state = TlsState::of(ssl);
  const auto& context = static_cast<const TlsClientContext&>(*state.context);
  SSL_SESSION_up_ref(session);
  context.keep(state, SslSessionPtr(session));
  return 0;
} catch (const std::bad_alloc&) {
  return 0;  // the next handshake is a long one
}

}  // namespace rouse::internal
