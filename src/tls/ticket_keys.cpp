#include "tls/ticket_keys.hpp"

#include <algorithm>
#include <new>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <system_error>
#include <utility>

#include "rouse/tls/error.hpp"
#include "rouse/tls/ticket_keys.hpp"

#include "tls/openssl.hpp"

namespace rouse::internal {
namespace {

constexpr std::size_t shortest_secret = 32;

TlsTicketKey random_key() {
  TlsTicketKey key{};
  needed(RAND_bytes(key.name.data(), static_cast<int>(key.name.size())));
  needed(RAND_bytes(key.encryption.data(), static_cast<int>(key.encryption.size())));
  needed(RAND_bytes(key.signature.data(), static_cast<int>(key.signature.size())));
  return key;
}

/// By HKDF (RFC 5869): who sees the name learns nothing of the rest.
TlsTicketKey key_from(const std::string& secret) {
  if (secret.size() < shortest_secret)
    throw std::system_error(make_error_code(tls::Error::bad_ticket_key));
  const OwnedBy<EVP_KDF, EVP_KDF_free> hkdf(needed(EVP_KDF_fetch(nullptr, "HKDF", nullptr)));
  const OwnedBy<EVP_KDF_CTX, EVP_KDF_CTX_free> run(needed(EVP_KDF_CTX_new(hkdf.get())));
  std::string hash = "SHA256";
  std::string purpose = "rouse: session tickets";
  std::string from = secret;
  const std::array<OSSL_PARAM, 4> parameters{
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, hash.data(), 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, from.data(), from.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, purpose.data(), purpose.size()),
      OSSL_PARAM_construct_end()};
  TlsTicketKey key{};
  std::array<unsigned char, sizeof key> bytes{};
  needed(EVP_KDF_derive(run.get(), bytes.data(), bytes.size(), parameters.data()));
  const unsigned char* next = bytes.data();
  std::copy_n(next, key.name.size(), key.name.begin());
  std::copy_n(next += key.name.size(), key.encryption.size(), key.encryption.begin());
  std::copy_n(next += key.encryption.size(), key.signature.size(), key.signature.begin());
  OPENSSL_cleanse(from.data(), from.size());
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return key;
}

}  // namespace

TlsTicketKeys::TlsTicketKeys() : keys_{random_key()}, since_(time::now()) {}

void TlsTicketKeys::set_secrets(const std::vector<std::string>& secrets) {
  std::vector<TlsTicketKey> keys;
  keys.reserve(secrets.size());
  for (const std::string& secret : secrets) keys.push_back(key_from(secret));
  if (keys.empty()) throw std::system_error(make_error_code(tls::Error::bad_ticket_key));
  const Lock lock(mutex_);
  keys_ = std::move(keys);
  rotates_ = false;
}

TlsTicketKey TlsTicketKeys::current() {
  const Lock lock(mutex_);
  replace_old_ones();
  return keys_.front();
}

std::optional<TlsTicketKeys::Found> TlsTicketKeys::find(std::span<const unsigned char, 16> name) {
  const Lock lock(mutex_);
  replace_old_ones();
  for (const TlsTicketKey& key : keys_) {
    if (std::ranges::equal(key.name, name)) return Found{key, &key == &keys_.front()};
  }
  return std::nullopt;
}

/// Within the lock.
void TlsTicketKeys::replace_old_ones() {
  const time::Instant now = time::now();
  if (!rotates_ || now - since_ < period) return;
  // Nobody asked for two periods: tickets of the current one are too old as well.
  const bool keeps_one = now - since_ < 2 * period;
  const TlsTicketKey last = keys_.front();
  keys_.assign(1, random_key());
  if (keeps_one) keys_.push_back(last);
  since_ = now;
}

}  // namespace rouse::internal

namespace rouse::tls {

TicketKeys::TicketKeys() : keys_(make_ref<internal::TlsTicketKeys>()) {}
TicketKeys::TicketKeys(const TicketKeys& other) noexcept = default;
TicketKeys::TicketKeys(TicketKeys&& other) noexcept = default;
TicketKeys& TicketKeys::operator=(TicketKeys other) noexcept {
  std::swap(keys_, other.keys_);
  return *this;
}
TicketKeys::~TicketKeys() = default;

TicketKeys TicketKeys::from_secrets(const std::vector<std::string>& secrets) {
  TicketKeys keys;
  keys.set_secrets(secrets);
  return keys;
}

void TicketKeys::set_secrets(const std::vector<std::string>& secrets) {
  keys_->set_secrets(secrets);
}

}  // namespace rouse::tls
