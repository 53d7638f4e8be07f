#include "support/certificates.hpp"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdexcept>
#include <utility>

namespace rouse::test {
namespace {

template <auto free_it>
struct FreedBy {
  template <class T>
  void operator()(T* it) const {
    free_it(it);
  }
};
using Key = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, FreedBy<X509_free>>;
using Bio = std::unique_ptr<BIO, FreedBy<BIO_free>>;

template <class T>
T* made(T* it) {
  if (it == nullptr) throw std::runtime_error("OpenSSL makes no certificate");
  return it;
}
void made(int succeeded) {
  if (succeeded <= 0) throw std::runtime_error("OpenSSL makes no certificate");
}

Key new_key(int rsa_bits) {
  if (rsa_bits != 0) return Key(made(EVP_RSA_gen(static_cast<unsigned>(rsa_bits))));
  return Key(made(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")));
}

void add_extension(X509* to, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  X509_EXTENSION* extension = made(X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()));
  made(X509_add_ext(to, extension, -1));
  X509_EXTENSION_free(extension);
}

void set_name(X509_NAME* name, const std::string& common) {
  const auto* text = reinterpret_cast<const unsigned char*>(common.c_str());
  made(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0));
}

X509Ptr blank(EVP_PKEY* key, const std::string& name, int begins, int ends) {
  X509Ptr certificate(made(X509_new()));
  made(X509_set_version(certificate.get(), X509_VERSION_3));
  std::uint32_t serial = 0;
  made(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial));
  made(ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial | 1U));
  constexpr long hour = 3600;
  made(X509_gmtime_adj(X509_getm_notBefore(certificate.get()), begins * hour));
  made(X509_gmtime_adj(X509_getm_notAfter(certificate.get()), ends * hour));
  made(X509_set_pubkey(certificate.get(), key));
  set_name(X509_get_subject_name(certificate.get()), name);
  return certificate;
}

void sign(X509* certificate, X509* issuer, EVP_PKEY* with) {
  made(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)));
  made(X509_sign(certificate, with, EVP_sha256()));
}

std::string text_in(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}
std::string pem_of(X509* certificate) {
  const Bio out(made(BIO_new(BIO_s_mem())));
  made(PEM_write_bio_X509(out.get(), certificate));
  return text_in(out.get());
}
std::string pem_of(EVP_PKEY* key) {
  const Bio out(made(BIO_new(BIO_s_mem())));
  made(PEM_write_bio_PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr));
  return text_in(out.get());
}

void add_names(X509* certificate, const For& whom) {
  std::string names;
  for (const std::string& name : whom.names) names += (names.empty() ? "DNS:" : ",DNS:") + name;
  for (const std::string& ip : whom.addresses) names += ",IP:" + ip;
  if (whom.has_names) add_extension(certificate, certificate, NID_subject_alt_name, names);
  if (!whom.usage.empty()) add_extension(certificate, certificate, NID_ext_key_usage, whom.usage);
}

}  // namespace

struct Authority::Made {
  Key key;
  X509Ptr certificate;
  std::string chain;  // those between this one and the root, with this one
};

Authority::Authority(std::unique_ptr<Made> made) noexcept : made_(std::move(made)) {}
Authority::Authority(Authority&&) noexcept = default;
Authority::~Authority() = default;

Authority::Authority(const std::string& name) : made_(std::make_unique<Made>()) {
  made_->key = new_key(0);
  made_->certificate = blank(made_->key.get(), name, -24, 30 * 24);
  X509* own = made_->certificate.get();
  add_extension(own, own, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(own, own, NID_key_usage, "critical,keyCertSign");
  sign(own, own, made_->key.get());
}

Authority Authority::intermediate(const std::string& name, int hours) const {
  auto child = std::make_unique<Made>();
  child->key = new_key(0);
  child->certificate = blank(child->key.get(), name, -24, hours);
  X509* own = child->certificate.get();
  add_extension(own, made_->certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(own, made_->certificate.get(), NID_key_usage, "critical,keyCertSign");
  sign(own, made_->certificate.get(), made_->key.get());
  child->chain = pem_of(own) + made_->chain;
  return Authority(std::move(child));
}

std::string Authority::pem() const { return pem_of(made_->certificate.get()); }

Issued Authority::issue(const For& whom) const {
  const Key key = new_key(whom.rsa_bits);
  const X509Ptr certificate = blank(key.get(), whom.names.front(), whom.begins, whom.ends);
  add_names(certificate.get(), whom);
  sign(certificate.get(), made_->certificate.get(), made_->key.get());
  return Issued{pem_of(certificate.get()) + made_->chain, pem_of(key.get())};
}

Issued self_signed(const For& whom) {
  const Key key = new_key(whom.rsa_bits);
  const X509Ptr certificate = blank(key.get(), whom.names.front(), whom.begins, whom.ends);
  add_names(certificate.get(), whom);
  sign(certificate.get(), certificate.get(), key.get());
  return Issued{pem_of(certificate.get()), pem_of(key.get())};
}

}  // namespace rouse::test
