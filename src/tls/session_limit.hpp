// Until when a server resumes the session of a client that has shown a certificate: for 12 h, and
// not after that certificate, or one of those that vouch for it, has ended. The date is in the
// ticket, also in one that replaces it, and holds in every process that has its key.
#pragma once

#include "tls/openssl.hpp"

namespace rouse::internal {

/// Later the client must show its certificate again.
void limit_sessions(SSL_CTX* ctx) noexcept;

}  // namespace rouse::internal
