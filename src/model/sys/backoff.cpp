#include "sys/backoff.hpp"

#include "rouse/base/atomic.hpp"

namespace rouse::sys {

void back_off(unsigned) noexcept { spin_hint(); }

}  // namespace rouse::sys
