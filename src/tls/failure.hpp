// What OpenSSL says went wrong, as error codes and in words.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "tls/openssl.hpp"

namespace rouse::internal {

/// A code, and what it can't say.
struct Failure {
  std::error_code code;
  std::string detail;
};

/// Of the calling thread's latest call, by OpenSSL's queue of errors. `first` are the first bytes
/// that the peer sent.
Failure latest_failure(const SSL* ssl, std::string_view first);
/// Which tls::Error a result of X509_verify_cert is.
std::error_code verification_error(int result) noexcept;
/// What is wrong with the certificate, in words: for which names it is, since when it is expired.
std::string describe_verification(X509_STORE_CTX* checked);
/// "CN=example.org,O=Example", readable whatever is in it.
std::string subject_of(const X509* certificate);

}  // namespace rouse::internal
