#include "rouse/exec/spawn_local.hpp"

#include "rouse/base/assert.hpp"

#include "exec/local/local_core.hpp"

namespace rouse {

using namespace internal;

Scheduler& internal::current_local_scheduler() noexcept {
  ROUSE_ASSERT(this_thread.local != nullptr,
               "spawn_local outside of a LocalExecutor or LocalSet: this thread runs neither. Call "
               "it inside LocalExecutor::run_until or LocalSet::block_on, or use spawn for a task "
               "that may run on any thread");
  return *this_thread.local;
}

}  // namespace rouse
