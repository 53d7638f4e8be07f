// Owners of what OpenSSL makes. Nothing of OpenSSL is seen outside of src/tls.
#pragma once

#include <memory>
#include <new>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <utility>

namespace rouse::internal {

template <auto free_it>
struct FreedBy {
  template <class T>
  void operator()(T* it) const noexcept {
    free_it(it);
  }
};
template <class T, auto free_it>
using OwnedBy = std::unique_ptr<T, FreedBy<free_it>>;

using BioPtr = OwnedBy<BIO, BIO_free>;
using SslPtr = OwnedBy<SSL, SSL_free>;
using SslContextPtr = OwnedBy<SSL_CTX, SSL_CTX_free>;
using SslSessionPtr = OwnedBy<SSL_SESSION, SSL_SESSION_free>;

/// What several own: OpenSSL counts them.
template <class T, auto add_owner, auto free_it>
class SharedBy {
 public:
  SharedBy() noexcept = default;
  /// Takes over a reference.
  explicit SharedBy(T* counted) noexcept : it_(counted) {}
  SharedBy(const SharedBy& other) noexcept : it_(other.it_) {
    if (it_ != nullptr) add_owner(it_);
  }
  SharedBy(SharedBy&& other) noexcept : it_(std::exchange(other.it_, nullptr)) {}
  SharedBy& operator=(SharedBy other) noexcept {
    std::swap(it_, other.it_);
    return *this;
  }
  ~SharedBy() { free_it(it_); }

  [[nodiscard]] T* get() const noexcept { return it_; }
  explicit operator bool() const noexcept { return it_ != nullptr; }

 private:
  T* it_ = nullptr;
};

using Certificate = SharedBy<X509, X509_up_ref, X509_free>;
using PrivateKey = SharedBy<EVP_PKEY, EVP_PKEY_up_ref, EVP_PKEY_free>;
using CertificateStore = SharedBy<X509_STORE, X509_STORE_up_ref, X509_STORE_free>;

/// For calls that fail only when there is no memory.
template <class T>
T* needed(T* made) {
  if (made == nullptr) throw std::bad_alloc();
  return made;
}
inline void needed(long succeeded) {
  if (succeeded <= 0) throw std::bad_alloc();
}

}  // namespace rouse::internal
