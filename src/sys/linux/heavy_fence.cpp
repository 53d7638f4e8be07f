#include "sys/heavy_fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rouse::sys {
namespace {

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

void prepare_heavy_fence() noexcept {
  (void)membarrier(
      MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);  // who uses it sees whether it failed
}

bool heavy_fence() noexcept { return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }

}  // namespace rouse::sys
