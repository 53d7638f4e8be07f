#include "rouse/tls/server_config.hpp"

#include <utility>

#include "tls/settings.hpp"

namespace rouse::tls {

ServerConfig::ServerConfig() : settings_(internal::make_box<internal::TlsServerSettings>()) {}
ServerConfig::ServerConfig(const ServerConfig& other)
    : settings_(internal::make_box<internal::TlsServerSettings>(*other.settings_)) {}
ServerConfig::ServerConfig(ServerConfig&& other) noexcept = default;
ServerConfig& ServerConfig::operator=(ServerConfig other) noexcept {
  settings_.swap(other.settings_);
  return *this;
}
ServerConfig::~ServerConfig() = default;

ServerConfig ServerConfig::pem(const std::string& certificate_file, const std::string& key_file) {
  ServerConfig config;
  config.add_pem(certificate_file, key_file);
  return config;
}
ServerConfig ServerConfig::pem_text(std::string_view certificate, std::string_view key) {
  ServerConfig config;
  config.add_pem_text(certificate, key);
  return config;
}

ServerConfig& ServerConfig::add_pem(const std::string& certificate_file,
                                    const std::string& key_file) {
  settings_->identities.push_back(internal::load_identity(certificate_file, key_file));
  return *this;
}
ServerConfig& ServerConfig::add_pem_text(std::string_view certificate, std::string_view key) {
  settings_->identities.push_back(
      internal::parse_identity(certificate, "the certificate's text", key, "the key's text"));
  return *this;
}
ServerConfig& ServerConfig::alpn(const std::vector<std::string>& protocols) {
  settings_->alpn = internal::encode_alpn(protocols);
  return *this;
}
ServerConfig& ServerConfig::client_ca(const std::string& file) {
  for (internal::Certificate& each : internal::parse_certificates(internal::load_file(file), file))
    settings_->client_authorities.push_back(std::move(each));
  return *this;
}
ServerConfig& ServerConfig::client_ca_text(std::string_view pem) {
  for (internal::Certificate& each : internal::parse_certificates(pem, "the authority's text"))
    settings_->client_authorities.push_back(std::move(each));
  return *this;
}
ServerConfig& ServerConfig::require_client_certificate() {
  settings_->requires_certificate = true;
  return *this;
}
ServerConfig& ServerConfig::min_version(Version version) {
  settings_->min_version = version;
  return *this;
}
ServerConfig& ServerConfig::max_version(Version version) {
  settings_->max_version = version;
  return *this;
}
ServerConfig& ServerConfig::ticket_keys(TicketKeys keys) {
  settings_->ticket_keys = std::move(keys);
  return *this;
}
ServerConfig& ServerConfig::no_tickets() {
  settings_->gives_tickets = false;
  return *this;
}
ServerConfig& ServerConfig::set_handshake_timeout(time::Nanoseconds limit) {
  settings_->handshake_timeout = limit;
  return *this;
}

}  // namespace rouse::tls
