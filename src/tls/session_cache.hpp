// SessionCache: what a client keeps of earlier connections, by server, so that the next handshake
// is short. A ticket of TLS 1.3 is used once (RFC 8446, C.4), a session of TLS 1.2 again and again.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "rouse/base/thread.hpp"
#include "rouse/time/instant.hpp"

#include "tls/openssl.hpp"

namespace rouse::internal {

/// Threads: any.
class SessionCache {
 public:
  /// So many servers; the one that was not asked for the longest time is forgotten.
  explicit SessionCache(std::size_t servers) noexcept : most_(servers) {}

  struct Kept {
    time::Instant verified_at;  // when the server last showed its certificate
    SslSessionPtr session;      // null: there is none
  };
  void put(const std::string& server, Kept kept);
  /// The latest one.
  Kept take(const std::string& server);

 private:
  struct Server {
    std::string name;
    std::deque<Kept> sessions;  // the latest last
  };
  using Servers = std::list<Server>;

  Mutex mutex_;
  const std::size_t most_;
  Servers servers_;  // the one asked for last comes first
  std::unordered_map<std::string_view, Servers::iterator> by_name_;
};

}  // namespace rouse::internal
