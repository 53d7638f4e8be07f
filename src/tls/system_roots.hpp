// The authorities that the system trusts.
#pragma once

#include "tls/openssl.hpp"

namespace rouse::internal {

/// Read once and shared by all: it takes milliseconds. Throws std::bad_alloc.
const CertificateStore& system_roots();
/// Adds them to a store.
void add_system_roots(X509_STORE* store);

}  // namespace rouse::internal
