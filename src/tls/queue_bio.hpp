// The BIO between OpenSSL and the two queues of a TlsState.
#pragma once

#include "tls/openssl.hpp"

namespace rouse::internal {

class TlsState;

/// Throws std::bad_alloc.
BioPtr make_queue_bio(TlsState& state);

}  // namespace rouse::internal
