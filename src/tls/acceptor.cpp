#include "rouse/tls/acceptor.hpp"

#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/thread.hpp"

#include "tls/server_context.hpp"
#include "tls/tls_state.hpp"

namespace rouse::internal {

/// The configuration in use, and the ticket keys of all of them.
class TlsAcceptorCore : public RefCounted<TlsAcceptorCore> {
 public:
  RefPtr<TlsServerContext> context() {
    const Lock lock(mutex_);
    return context_;
  }
  /// Gives back the one that was in use: it may be freed, which is not to be done within the lock.
  RefPtr<TlsServerContext> exchange(RefPtr<TlsServerContext> context) {
    const Lock lock(mutex_);
    return std::exchange(context_, std::move(context));
  }
  const RefPtr<TlsTicketKeys> keys = make_ref<TlsTicketKeys>();

 private:
  Mutex mutex_;
  RefPtr<TlsServerContext> context_;
};

}  // namespace rouse::internal

namespace rouse::tls {

Acceptor::Acceptor(const ServerConfig& config) : core_(make_ref<internal::TlsAcceptorCore>()) {
  reload(config);
}
Acceptor::Acceptor(const Acceptor& other) noexcept = default;
Acceptor::Acceptor(Acceptor&& other) noexcept = default;
Acceptor& Acceptor::operator=(Acceptor other) noexcept {
  std::swap(core_, other.core_);
  return *this;
}
Acceptor::~Acceptor() = default;

void Acceptor::reload(const ServerConfig& config) {
  ROUSE_ASSERT(core_, "use of a tls::Acceptor that was moved from: use the one it went to");
  const internal::TlsServerSettings& settings = *config.settings_;
  const bool has_keys = settings.ticket_keys.has_value();
  (void)core_->exchange(make_ref<internal::TlsServerContext>(
      settings, has_keys ? settings.ticket_keys->keys_ : core_->keys));
}

internal::TlsSession Acceptor::begin() const {
  ROUSE_ASSERT(core_, "use of a tls::Acceptor that was moved from: use the one it went to");
  return internal::TlsSession(core_->context()->begin());
}

}  // namespace rouse::tls
