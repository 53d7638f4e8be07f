#include "rouse/exec/enter_guard.hpp"

#include "rouse/base/assert.hpp"

#include "exec/task/current.hpp"

namespace rouse {

using namespace internal;

EnterGuard::EnterGuard(RefPtr<Scheduler> scheduler) noexcept
    : scheduler_(std::move(scheduler)),
      before_(this_thread.scheduler),
      driver_context_(shared_context_of(scheduler_.get())) {
  this_thread.scheduler = scheduler_.get();
}

EnterGuard::~EnterGuard() {
  ROUSE_ASSERT(
      this_thread.scheduler == scheduler_.get(),
      "an EnterGuard was destroyed on another thread than the one that made it, or before one "
      "that was made later: keep it in a local variable");
  this_thread.scheduler = before_;
}

}  // namespace rouse
