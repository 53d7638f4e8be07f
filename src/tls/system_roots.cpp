#include "tls/system_roots.hpp"

#include <cstdlib>
#include <openssl/err.h>

namespace rouse::internal {
namespace {

/// A file with all of them is read at once. (OpenSSL's own default, a folder, is looked into during
/// handshakes, which would block.)
constexpr const char* bundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Gentoo
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",                             // openSUSE
    "/etc/ssl/cert.pem",                                  // Alpine, BSD
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // CentOS
};

}  // namespace

void add_system_roots(X509_STORE* store) {
  const char* chosen = ::secure_getenv(X509_get_default_cert_file_env());
  bool found = false;
  if (chosen != nullptr) {
    found = X509_STORE_load_file(store, chosen) == 1;
  } else {
    for (const char* bundle : bundles) {
      found = X509_STORE_load_file(store, bundle) == 1;
      if (found) break;
    }
  }
  if (!found) X509_STORE_set_default_paths(store);
  ERR_clear_error();
}

const CertificateStore& system_roots() {
  static const CertificateStore store = [] {
    CertificateStore all(needed(X509_STORE_new()));
    add_system_roots(all.get());
    return all;
  }();
  return store;
}

}  // namespace rouse::internal
