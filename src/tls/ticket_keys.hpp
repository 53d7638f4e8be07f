// TlsTicketKeys: the keys that a server's session tickets are encrypted with (RFC 5077, section 4).
// The first is for new tickets, the others are still understood.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/time/instant.hpp"

namespace rouse::internal {

struct TlsTicketKey {
  using Name = std::array<unsigned char, 16>;
  Name name;                                 // in the ticket, to find the key again
  std::array<unsigned char, 32> encryption;  // AES-256-CBC
  std::array<unsigned char, 32> signature;   // HMAC with SHA-256
};

/// Threads: any.
class TlsTicketKeys : public RefCounted<TlsTicketKeys> {
 public:
  /// New ones come so often. A session lives as long, and so its key twice as long.
  static constexpr time::Nanoseconds period = std::chrono::hours(12);

  /// Random ones.
  TlsTicketKeys();
  void set_secrets(const std::vector<std::string>& secrets);

  /// That for new tickets.
  [[nodiscard]] TlsTicketKey current();
  struct Found {
    TlsTicketKey key;
    bool is_current;
  };
  [[nodiscard]] std::optional<Found> find(std::span<const unsigned char, 16> name);

 private:
  void replace_old_ones();

  Mutex mutex_;
  std::vector<TlsTicketKey> keys_;  // the current one first
  bool rotates_ = true;
  time::Instant since_;  // when the current one was made
};

}  // namespace rouse::internal
