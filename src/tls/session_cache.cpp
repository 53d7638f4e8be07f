#include "tls/session_cache.hpp"

#include <chrono>
#include <utility>

namespace rouse::internal {
namespace {

/// As many connections may begin at once with a session of their own.
constexpr std::size_t most_of_a_server = 8;
/// Certificates are looked at again at least so often.
constexpr time::Nanoseconds longest_life = std::chrono::hours(12);

}  // namespace

void SessionCache::put(const std::string& server, SslSessionPtr session) {
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
  sessions.push_back(Kept{time::now(), std::move(session)});
  if (sessions.size() > most_of_a_server) sessions.pop_front();
}

SslSessionPtr SessionCache::take(const std::string& server) {
  const Lock lock(mutex_);
  const auto found = by_name_.find(server);
  if (found == by_name_.end()) return nullptr;
  servers_.splice(servers_.begin(), servers_, found->second);
  std::deque<Kept>& sessions = found->second->sessions;
  const time::Instant now = time::now();
  while (!sessions.empty()) {
    Kept& latest = sessions.back();
    const bool is_good =
        now - latest.since < longest_life && SSL_SESSION_is_resumable(latest.session.get()) != 0;
    if (is_good && SSL_SESSION_get_protocol_version(latest.session.get()) < TLS1_3_VERSION) {
      SSL_SESSION_up_ref(latest.session.get());
      return SslSessionPtr(latest.session.get());
    }
    SslSessionPtr session = std::move(latest.session);
    sessions.pop_back();
    if (is_good) return session;
  }
  return nullptr;
}

}  // namespace rouse::internal
