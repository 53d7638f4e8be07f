// Enter: while it lives, `spawn`, `spawn_blocking`, sleeps and the like on this thread go to one
// executor, outside of its tasks. What Runtime::enter gives.
#pragma once

#include <utility>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/exec/driver.hpp"
#include "rouse/exec/scheduler.hpp"

namespace rouse {

/// To be destroyed on the thread that made it, the last one made first.
class ROUSE_API Enter {
 public:
  [[nodiscard("leaving is what its destructor does: keep it in a variable")]] explicit Enter(
      RefPtr<Scheduler> scheduler) noexcept;
  Enter(const Enter&) = delete;
  Enter& operator=(const Enter&) = delete;
  ~Enter();

 private:
  const RefPtr<Scheduler> scheduler_;
  Scheduler* const before_;
  const WithSurroundings surroundings_;
};

}  // namespace rouse
