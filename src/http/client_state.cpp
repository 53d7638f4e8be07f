#include "http/client_state.hpp"

#include <algorithm>
#include <utility>

namespace rouse::http {
namespace {

/// For one host; each has its own timeout.
constexpr std::size_t most_waiting = 10'000;

}  // namespace

Pool<OriginManager> ClientState::pool_for(const UrlOrigin& origin) {
  const UrlOrigin& to = settings_->is_passed_on(origin) ? settings_->proxy->origin : origin;
  const std::string key = to.text();
  {
    const internal::SpinGuard guard(lock_);
    const auto found = pools_.find(key);
    if (found != pools_.end()) return found->second;
  }
  const auto options = PoolOptions()
                           .max_open(settings_->connections_per_host)
                           .max_waiting(most_waiting)
                           .no_take_timeout()  // the whole request has one
                           .idle_timeout(settings_->idle_timeout);
  // Nothing is allocated or destroyed under the lock.
  Pools unused;
  Pools made;
  made.emplace(key, Pool<OriginManager>(OriginManager(settings_, origin), options));
  const internal::SpinGuard guard(lock_);
  if (pools_.size() >= next_cleanup_) forget_unused(unused);
  return pools_.insert(made.extract(made.begin())).position->second;
}

/// So that who visits many hosts does not remember all of them.
void ClientState::forget_unused(Pools& unused) {
  for (auto each = pools_.begin(); each != pools_.end();) {
    const auto next = std::next(each);
    const ConnectionMetrics metrics = each->second.metrics();
    if (metrics.open == 0 && metrics.waiting == 0) unused.insert(pools_.extract(each));
    each = next;
  }
  next_cleanup_ = std::max<std::size_t>(64, 2 * pools_.size());
}

ClientMetrics ClientState::metrics() {
  ClientMetrics sum;
  sum.requests = requests.load(memory_order_relaxed);
  sum.repeats = repeats.load(memory_order_relaxed);
  sum.redirects = redirects.load(memory_order_relaxed);
  const internal::SpinGuard guard(lock_);
  for (const auto& [key, pool] : pools_) {
    const ConnectionMetrics metrics = pool.metrics();
    sum.open += metrics.open;
    sum.idle += metrics.idle;
    sum.waiting += metrics.waiting;
    sum.opened += metrics.opened;
  }
  return sum;
}

}  // namespace rouse::http
