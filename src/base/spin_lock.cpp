#include "rouse/base/internal/spin_lock.hpp"

#include "sys/backoff.hpp"

namespace rouse::internal {

void back_off(unsigned attempt) noexcept {
  constexpr unsigned spins = 32;
  if (attempt < spins) return spin_hint();
  sys::back_off(attempt - spins);
}

}  // namespace rouse::internal
