// TicketKeys: what the session tickets of a server are encrypted with. A client that comes back
// with its ticket need not be shown a certificate again.
//
// By default they are random and replaced every 12 h; the last but one is thrown away, and with it
// the chance to decrypt what was recorded of TLS 1.2. Processes that serve the same clients need
// the same keys: give them the same secrets, and new ones from time to time.
//
//   tls::TicketKeys keys = tls::TicketKeys::from_secrets({today, yesterday});
//   keys.set_secrets({tomorrow, today});      // later, while servers run
#pragma once

#include <string>
#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/ref_ptr.hpp"

namespace rouse::internal {
class TlsTicketKeys;
}  // namespace rouse::internal

namespace rouse::tls {

/// Copies share the same keys.
/// Threads: any.
class ROUSE_API TicketKeys {
 public:
  /// Random ones, which are replaced every 12 h.
  TicketKeys();
  TicketKeys(const TicketKeys& other) noexcept;
  TicketKeys(TicketKeys&& other) noexcept;
  TicketKeys& operator=(TicketKeys other) noexcept;
  ~TicketKeys();

  /// Keys made from secrets of at least 32 random bytes each. New tickets are of the first one;
  /// those of the others are still valid. Throws std::system_error with Error::bad_ticket_key.
  static TicketKeys from_secrets(const std::vector<std::string>& secrets);
  /// The same, of keys that are in use. They are not replaced any more, but by this function.
  void set_secrets(const std::vector<std::string>& secrets);

 private:
  friend class Acceptor;
  RefPtr<internal::TlsTicketKeys> keys_;
};

}  // namespace rouse::tls
