// Certificates and keys from PEM text and files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tls/openssl.hpp"

namespace rouse::internal {

/// A certificate with its key, and those of its issuers that are sent along.
struct Identity {
  Certificate certificate;
  std::vector<Certificate> issuers;
  PrivateKey key;
};

/// At least one. Throws std::system_error with tls::Error::bad_pem, and `name` in its text.
std::vector<Certificate> parse_certificates(std::string_view pem, const std::string& name);
/// Throws the same, or tls::Error::key_mismatch.
Identity parse_identity(std::string_view certificate, const std::string& certificate_name,
                        std::string_view key, const std::string& key_name);
/// Of two files. Throws the system's errors, too.
Identity load_identity(const std::string& certificate_file, const std::string& key_file);
/// A whole file. Throws std::system_error with its name.
std::string load_file(const std::string& path);

}  // namespace rouse::internal
