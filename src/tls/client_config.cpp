#include "rouse/tls/client_config.hpp"

#include <utility>

#include "tls/settings.hpp"

namespace rouse::tls {
namespace {

void add(std::vector<internal::Certificate>& all, std::vector<internal::Certificate> more) {
  for (internal::Certificate& each : more) all.push_back(std::move(each));
}

}  // namespace

ClientConfig::ClientConfig() : settings_(internal::make_box<internal::TlsClientSettings>()) {}
ClientConfig::ClientConfig(const ClientConfig& other)
    : settings_(internal::make_box<internal::TlsClientSettings>(*other.settings_)) {}
ClientConfig::ClientConfig(ClientConfig&& other) noexcept = default;
ClientConfig& ClientConfig::operator=(ClientConfig other) noexcept {
  settings_.swap(other.settings_);
  return *this;
}
ClientConfig::~ClientConfig() = default;

ClientConfig& ClientConfig::trust_file(const std::string& path) {
  add(settings_->trusted, internal::parse_certificates(internal::load_file(path), path));
  return *this;
}
ClientConfig& ClientConfig::trust_pem(std::string_view pem) {
  add(settings_->trusted, internal::parse_certificates(pem, "the text to trust"));
  return *this;
}
ClientConfig& ClientConfig::trust_system() {
  settings_->trusts_system = true;
  return *this;
}
ClientConfig& ClientConfig::certificate(const std::string& certificate_file,
                                        const std::string& key_file) {
  settings_->identity = internal::load_identity(certificate_file, key_file);
  return *this;
}
ClientConfig& ClientConfig::certificate_pem(std::string_view certificate, std::string_view key) {
  settings_->identity =
      internal::parse_identity(certificate, "the certificate's text", key, "the key's text");
  return *this;
}
ClientConfig& ClientConfig::alpn(const std::vector<std::string>& protocols) {
  settings_->alpn = internal::encode_alpn(protocols);
  return *this;
}
ClientConfig& ClientConfig::min_version(Version version) {
  settings_->min_version = version;
  return *this;
}
ClientConfig& ClientConfig::max_version(Version version) {
  settings_->max_version = version;
  return *this;
}
ClientConfig& ClientConfig::remember_sessions(std::size_t servers) {
  settings_->remembered_servers = servers;
  return *this;
}
ClientConfig& ClientConfig::dangerously_accept_any_certificate() {
  settings_->accepts_any = true;
  return *this;
}
ClientConfig& ClientConfig::set_handshake_timeout(time::Nanoseconds limit) {
  settings_->handshake_timeout = limit;
  return *this;
}

}  // namespace rouse::tls
