// ClientState: what all handles of a client share: its settings, and a pool of connections for each
// origin, or one for the proxy that passes requests on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/http/client.hpp"
#include "rouse/runtime/pool.hpp"

#include "http/client_dial.hpp"

namespace rouse::http {

class ClientState : public RefCounted<ClientState> {
 public:
  explicit ClientState(const ClientSettings& settings)
      : settings_(make_ref<SharedSettings>(settings)) {}

  [[nodiscard]] const SharedSettings& settings() const noexcept { return *settings_; }
  [[nodiscard]] Pool<OriginManager> pool_for(const UrlOrigin& origin);
  [[nodiscard]] ClientMetrics metrics();

  atomic<std::uint64_t> requests{0};
  atomic<std::uint64_t> repeats{0};
  atomic<std::uint64_t> redirects{0};

 private:
  using Pools = std::map<std::string, Pool<OriginManager>>;
  void forget_unused(Pools& unused);

  const RefPtr<SharedSettings> settings_;
  internal::SpinLock lock_;  // guards the rest
  Pools pools_;
  std::size_t next_cleanup_ = 64;
};

}  // namespace rouse::http
