#include "sys/heavy_fence.hpp"

#include "rouse/base/atomic.hpp"

namespace rouse::sys {

void prepare_heavy_fence() noexcept {}

/// A model's light fences are as strong as this one.
bool heavy_fence() noexcept {
  fence(memory_order_seq_cst);
  return true;
}

}  // namespace rouse::sys
