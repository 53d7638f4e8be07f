// EnterGuard: while it lives, `spawn`, `spawn_blocking`, sleeps and the like on this thread go to
// one executor, outside of its tasks. What Runtime::enter gives.
#pragma once

#include <utility>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/exec/internal/scheduler.hpp"
#include "rouse/exec/internal/timer_driver.hpp"

namespace rouse {

/// To be destroyed on the thread that made it, the last one made first.
class ROUSE_API EnterGuard {
 public:
  [[nodiscard("leaving is what its destructor does: keep it in a variable")]] explicit EnterGuard(
      RefPtr<internal::Scheduler> scheduler) noexcept;
  EnterGuard(const EnterGuard&) = delete;
  EnterGuard& operator=(const EnterGuard&) = delete;
  ~EnterGuard();

 private:
  const RefPtr<internal::Scheduler> scheduler_;
  internal::Scheduler* const before_;
  const internal::WithDriverContext driver_context_;
};

}  // namespace rouse
