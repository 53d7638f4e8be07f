#include "rouse/exec/internal/scheduler.hpp"

#include "exec/task/current.hpp"

namespace rouse::internal {

Scheduler::~Scheduler() = default;

Scheduler* Scheduler::current() noexcept { return this_thread.scheduler; }

}  // namespace rouse::internal
