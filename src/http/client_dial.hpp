// How a client gets a connection to an origin: lookup, TCP, the proxy's tunnel, TLS. OriginManager:
// the manager of the Pool of one origin.
#pragma once

#include <utility>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/async_result.hpp"

#include "http/client_connection.hpp"
#include "http/client_settings.hpp"
#include "http/url.hpp"

namespace rouse::http {

/// Shared by a client and its pools.
class SharedSettings : public RefCounted<SharedSettings>, public ClientSettings {
 public:
  explicit SharedSettings(const ClientSettings& settings) : ClientSettings(settings) {}

  /// Whether requests to it go to the proxy, which passes them on.
  [[nodiscard]] bool is_passed_on(const UrlOrigin& origin) const noexcept {
    return proxy && !origin.is_secure;
  }
};

class OriginManager {
 public:
  OriginManager(RefPtr<SharedSettings> settings, UrlOrigin origin) noexcept
      : settings_(std::move(settings)), origin_(std::move(origin)) {}

  AsyncResult<ClientConnection> connect() const;
  static bool is_open(ClientConnection& connection) { return connection.is_quiet(); }

 private:
  RefPtr<SharedSettings> settings_;
  UrlOrigin origin_;
};

}  // namespace rouse::http
