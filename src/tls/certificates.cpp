#include "tls/certificates.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <system_error>
#include <utility>

#include "tls/failure.hpp"

namespace rouse::internal {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

using Chain = OwnedBy<STACK_OF(X509), [](STACK_OF(X509) * chain) { sk_X509_free(chain); }>;

/// Borrows the certificates.
Chain chain_of(const std::vector<Certificate>& certificates) {
  Chain chain(needed(sk_X509_new_null()));
  for (const Certificate& each : certificates) needed(sk_X509_push(chain.get(), each.get()));
  return chain;
}

}  // namespace

void use_identity(SSL_CTX* ctx, const Identity& identity) {
  ERR_clear_error();
  const int used = SSL_CTX_use_cert_and_key(ctx, identity.certificate.get(), identity.key.get(),
                                            chain_of(identity.issuers).get(), 1);
  if (used == 1) return;
  throw std::system_error(latest_failure(nullptr, "").code,
                          "the certificate of " + subject_of(identity.certificate.get()));
}

Certificates::Certificates(std::vector<Identity> all) : all_(std::move(all)) {
  for (std::size_t i = 0; i < all_.size(); ++i) note_names(i);
}

void Certificates::use_first_for(SSL_CTX* ctx) const {
  // All are tried, so that what OpenSSL does not like is found now and not in a handshake.
  for (const Identity& identity : all_) {
    const SslContextPtr trial(needed(SSL_CTX_new(TLS_server_method())));
    SSL_CTX_set_security_level(trial.get(), SSL_CTX_get_security_level(ctx));
    use_identity(trial.get(), identity);
  }
  use_identity(ctx, all_.front());
}

void Certificates::note_names(std::size_t index) {
  const OwnedBy<GENERAL_NAMES, GENERAL_NAMES_free> names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(all_[index].certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS) continue;
    const auto* text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
    note({text, static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName))}, index);
  }
}

void Certificates::note(std::string_view name, std::size_t index) {
  by_name_[in_lower_case(name)].push_back(index);
}

const Certificates::Indices* Certificates::find(std::string_view name) const {
  std::string wanted = in_lower_case(name);
  if (const auto exact = by_name_.find(wanted); exact != by_name_.end()) return &exact->second;
  const std::size_t dot = wanted.find('.');
  if (dot == std::string::npos) return nullptr;
  const auto wild = by_name_.find(wanted.replace(0, dot, "*"));
  return wild == by_name_.end() ? nullptr : &wild->second;
}

bool Certificates::use_for(SSL* ssl, std::string_view name) const noexcept try {
  const Indices* found = find(name);
  // The first is that of the context already.
  if (found == nullptr || (found->size() == 1 && found->front() == 0)) return true;
  SSL_certs_clear(ssl);
  for (const std::size_t index : *found) {
    const Identity& identity = all_[index];
    needed(SSL_use_cert_and_key(ssl, identity.certificate.get(), identity.key.get(),
                                chain_of(identity.issuers).get(), 1));
  }
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace rouse::internal
