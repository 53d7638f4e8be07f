#include "tls/session_cache.hpp"

#include <chrono>
#include <utility>

namespace rouse::internal {
namespace {

/// As many connections may begin at once with a session of their own.
constexpr std::size_t most_of_a_server = 8;
/// Certificates are looked at again at least so often.
constexpr time::Nanoseconds longest_life = std::chrono::hours(12);

bool is_used_once(const SSL_SESSION* session) noexcept {
  return SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION;
}

}  // namespace

void SessionCache::put(const std::string& server, Kept kept) {
  if (most_ == 0) return;
  const Lock lock(mutex_);
  auto found = by_name_.find(server);
  if (found == by_name_.end()) {
    servers_.emplace_front();
    servers_.front().name = server;
    found = by_name_.emplace(servers_.front().name, servers_.begin()).first;
    if (servers_.size() > most_) {
      by_name_.erase(servers_.back().name);
      servers_.pop_back();
    }
  }
  std::deque<Kept>& sessions = found->second->sessions;
  if (!is_used_once(kept.session.get())) sessions.clear();
  sessions.push_back(std::move(kept));
  if (sessions.size() > most_of_a_server) sessions.pop_front();
}

SessionCache::Kept SessionCache::take(const std::string& server) {
  const Lock lock(mutex_);
  const auto found = by_name_.find(server);
  if (found == by_name_.end()) return {};
  servers_.splice(servers_.begin(), servers_, found->second);
  std::deque<Kept>& sessions = found->second->sessions;
  const time::Instant now = time::now();
  while (!sessions.empty()) {
    Kept& latest = sessions.back();
    SSL_SESSION* session = latest.session.get();
    const bool is_good =
        now - latest.verified_at < longest_life && SSL_SESSION_is_resumable(session) != 0;
    if (is_good && !is_used_once(session)) {
      SSL_SESSION_up_ref(session);
      return Kept{latest.verified_at, SslSessionPtr(session)};
    }
    Kept taken = std::move(latest);
    sessions.pop_back();
    if (is_good) return taken;
  }
  return {};
}

}  // namespace rouse::internal
