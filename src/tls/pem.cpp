#include "tls/pem.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <system_error>
#include <utility>

#include "rouse/tls/error.hpp"

namespace rouse::internal {
namespace {

constexpr std::size_t largest_file = std::size_t{16} * 1024 * 1024;

BioPtr reader_of(std::string_view text) {
  return BioPtr(needed(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))));
}

/// A key with a passphrase is refused: there is nobody to ask.
int no_passphrase(char*, int, int, void*) noexcept { return 0; }

[[noreturn]] void refuse(tls::Error error, const std::string& what) {
  throw std::system_error(error, what);
}

}  // namespace

std::vector<Certificate> parse_certificates(std::string_view pem, const std::string& name) {
  ERR_clear_error();
  std::vector<Certificate> all;
  const BioPtr reader = reader_of(pem);
  while (X509* next = PEM_read_bio_X509(reader.get(), nullptr, no_passphrase, nullptr))
    all.emplace_back(next);
  // The end is an error, too; another one is a certificate that is none.
  const unsigned long last = ERR_peek_last_error();
  const bool is_end =
      ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (all.empty()) refuse(tls::Error::bad_pem, name + " has no certificate");
  if (!is_end) {
    refuse(tls::Error::bad_pem,
           "certificate " + std::to_string(all.size() + 1) + " in " + name + " can't be read");
  }
  return all;
}

Identity parse_identity(std::string_view certificate, const std::string& certificate_name,
                        std::string_view key, const std::string& key_name) {
  std::vector<Certificate> chain = parse_certificates(certificate, certificate_name);
  Identity identity;
  identity.certificate = std::move(chain.front());
  chain.erase(chain.begin());
  identity.issuers = std::move(chain);
  const BioPtr reader = reader_of(key);
  identity.key = PrivateKey(PEM_read_bio_PrivateKey(reader.get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  if (!identity.key)
    refuse(tls::Error::bad_pem, key_name + " has no key, or one with a passphrase");
  const bool fits = X509_check_private_key(identity.certificate.get(), identity.key.get()) == 1;
  ERR_clear_error();
  if (!fits) refuse(tls::Error::key_mismatch, key_name + " and " + certificate_name);
  return identity;
}

Identity load_identity(const std::string& certificate_file, const std::string& key_file) {
  return parse_identity(load_file(certificate_file), certificate_file, load_file(key_file),
                        key_file);
}

std::string load_file(const std::string& path) {
  const auto fail = [&](int error) {
    throw std::system_error(error, std::system_category(), path);
  };
  const OwnedBy<std::FILE, std::fclose> file(std::fopen(path.c_str(), "rbe"));
  if (!file) fail(errno);
  std::string content;
  char piece[16384];
  while (const std::size_t n = std::fread(piece, 1, sizeof piece, file.get())) {
    content.append(piece, n);
    if (content.size() > largest_file) fail(EFBIG);
  }
  if (std::ferror(file.get()) != 0) fail(errno);
  return content;
}

}  // namespace rouse::internal
