#include "tls/failure.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "rouse/net/ip_addr.hpp"
#include "rouse/tls/error.hpp"

namespace rouse::internal {
namespace {

using tls::Error;

constexpr std::size_t most_names = 5;

/// What a peer sent, fit for a message.
std::string readable(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, 100)) shown += c >= ' ' && c < '\x7f' ? c : '?';
  return shown;
}

std::string_view text_of(const ASN1_STRING* text) noexcept {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string name_of(const X509_NAME* name) {
  const BioPtr out(needed(BIO_new(BIO_s_mem())));
  X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return size > 0 ? readable({text, static_cast<std::size_t>(size)}) : std::string();
}

std::string address_of(std::string_view bytes) {
  if (bytes.size() == 4) {
    net::IpAddr::V4Bytes v4{};
    for (std::size_t i = 0; i < v4.size(); ++i) v4[i] = static_cast<std::uint8_t>(bytes[i]);
    return net::IpAddr(v4).to_string();
  }
  net::IpAddr::V6Bytes v6{};
  if (bytes.size() != v6.size()) return "?";
  for (std::size_t i = 0; i < v6.size(); ++i) v6[i] = static_cast<std::uint8_t>(bytes[i]);
  return net::IpAddr(v6).to_string();
}

/// For which hosts and addresses it is.
std::string names_in(const X509* certificate) {
  const OwnedBy<GENERAL_NAMES, GENERAL_NAMES_free> names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  if (!names) return "nobody: it has no names";
  std::string list;
  std::size_t count = 0;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    std::string text;
    if (name->type == GEN_DNS) text = readable(text_of(name->d.dNSName));
    if (name->type == GEN_IPADD) text = address_of(text_of(name->d.iPAddress));
    if (text.empty()) continue;
    if (++count > most_names) return list + " and others";
    list += (list.empty() ? "" : ", ") + text;
  }
  return list.empty() ? "no host" : list;
}

std::string date_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "?";
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts);
  return {text.data(), size};
}

/// Of what is wrong with the handshake itself.
Failure handshake_failure(int reason) {
  switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_NO_PROTOCOLS_AVAILABLE:
      return {Error::no_common_version, ""};
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_SUITABLE_KEY_SHARE:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
      return {Error::no_common_cipher, ""};
    case SSL_R_NO_APPLICATION_PROTOCOL:
      return {Error::no_common_protocol, ""};
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return {Error::no_certificate, ""};
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC:
    case SSL_R_BAD_RECORD_TYPE:
      return {Error::corrupt_record, ""};
    case SSL_R_EE_KEY_TOO_SMALL:
    case SSL_R_CA_KEY_TOO_SMALL:
    case SSL_R_CA_MD_TOO_WEAK:
    case SSL_R_DH_KEY_TOO_SMALL:
      return {Error::weak_certificate, ""};
    default:
      break;
  }
  const char* words = ERR_reason_error_string(ERR_PACK(ERR_LIB_SSL, 0, reason));
  return {Error::protocol_violation, words != nullptr ? words : ""};
}

/// Whether these may be the first bytes of a TLS connection: a handshake or an alert.
bool may_be_tls(std::string_view first) noexcept {
  if (first.empty()) return true;
  return (first[0] == '\x16' || first[0] == '\x15') && (first.size() < 2 || first[1] == '\x03');
}

Failure not_tls(int reason, std::string_view first) {
  if (reason == SSL_R_HTTP_REQUEST || reason == SSL_R_HTTPS_PROXY_REQUEST)
    return {Error::not_tls, "it sent an HTTP request"};
  if (first.starts_with("HTTP/")) return {Error::not_tls, "it answered with HTTP"};
  if (first.starts_with("SSH-")) return {Error::not_tls, "it speaks SSH"};
  return {Error::not_tls, "it sent \"" + readable(first) + '"'};
}

}  // namespace

Failure latest_failure(const SSL* ssl, std::string_view first) {
  if (!may_be_tls(first)) {
    const int reason = ERR_GET_REASON(ERR_peek_error());
    ERR_clear_error();
    return not_tls(reason, first);
  }
  Failure failure{Error::protocol_violation, ""};
  // The first of them is the cause, what follows says where.
  while (const unsigned long error = ERR_get_error()) {
    const int reason = ERR_GET_REASON(error);
    if (reason == ERR_R_MALLOC_FAILURE) {
      failure = {std::make_error_code(std::errc::not_enough_memory), ""};
      break;
    }
    if (ERR_GET_LIB(error) != ERR_LIB_SSL) continue;
    if (reason > SSL_AD_REASON_OFFSET && reason <= SSL_AD_REASON_OFFSET + 255) {
      failure = {make_error_code(static_cast<tls::Alert>(reason - SSL_AD_REASON_OFFSET)), ""};
    } else if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
      failure = {verification_error(static_cast<int>(SSL_get_verify_result(ssl))), ""};
    } else {
      failure = handshake_failure(reason);
    }
    break;
  }
  ERR_clear_error();
  return failure;
}

std::error_code verification_error(int result) noexcept {
  switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return Error::certificate_expired;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return Error::certificate_not_yet_valid;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return Error::wrong_name;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return Error::self_signed;
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_UNTRUSTED:
      return Error::unknown_issuer;
    case X509_V_ERR_INVALID_PURPOSE:
    case X509_V_ERR_CERT_REJECTED:
      return Error::bad_purpose;
    case X509_V_ERR_EE_KEY_TOO_SMALL:
    case X509_V_ERR_CA_KEY_TOO_SMALL:
    case X509_V_ERR_CA_MD_TOO_WEAK:
      return Error::weak_certificate;
    case X509_V_ERR_OUT_OF_MEM:
      return std::make_error_code(std::errc::not_enough_memory);
    default:
      return Error::bad_certificate;
  }
}

std::string describe_verification(X509_STORE_CTX* checked) {
  const int result = X509_STORE_CTX_get_error(checked);
  const X509* leaf = X509_STORE_CTX_get0_cert(checked);
  const X509* at = X509_STORE_CTX_get_current_cert(checked);
  if (leaf == nullptr) return "";
  if (at == nullptr) at = leaf;
  const std::error_code code = verification_error(result);
  if (code == Error::wrong_name) return "its certificate is for " + names_in(leaf);
  if (code == Error::certificate_expired)
    return "that of " + subject_of(at) + " ended " + date_of(X509_get0_notAfter(at));
  if (code == Error::certificate_not_yet_valid)
    return "that of " + subject_of(at) + " begins " + date_of(X509_get0_notBefore(at));
  if (code == Error::unknown_issuer) return "the issuer is " + name_of(X509_get_issuer_name(at));
  if (code == Error::bad_certificate)
    return subject_of(at) + ": " + X509_verify_cert_error_string(result);
  return subject_of(at);
}

std::string subject_of(const X509* certificate) {
  return name_of(X509_get_subject_name(certificate));
}

}  // namespace rouse::internal
