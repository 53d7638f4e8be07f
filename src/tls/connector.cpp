#include "rouse/tls/connector.hpp"

#include <utility>

#include "rouse/base/assert.hpp"

#include "tls/client_context.hpp"
#include "tls/tls_state.hpp"

namespace rouse::tls {

Connector::Connector() : Connector(ClientConfig()) {}
Connector::Connector(const ClientConfig& config)
    : context_(make_ref<internal::TlsClientContext>(*config.settings_)) {}
Connector::Connector(const Connector& other) noexcept = default;
Connector::Connector(Connector&& other) noexcept = default;
Connector& Connector::operator=(Connector other) noexcept {
  std::swap(context_, other.context_);
  return *this;
}
Connector::~Connector() = default;

internal::TlsSession Connector::begin(std::string_view server) const {
  ROUSE_ASSERT(context_, "use of a tls::Connector that was moved from: use the one it went to");
  return internal::TlsSession(context_->begin(server));
}

}  // namespace rouse::tls
