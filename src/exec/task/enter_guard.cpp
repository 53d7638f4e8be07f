#include "rouse/exec/enter.hpp"

#include "rouse/base/assert.hpp"

#include "exec/current.hpp"

namespace rouse {

Surroundings* outside_of(Scheduler* scheduler) noexcept {
  Drivers* drivers = scheduler ? scheduler->drivers() : nullptr;
  return drivers ? &drivers->outside() : nullptr;
}

Enter::Enter(RefPtr<Scheduler> scheduler) noexcept
    : scheduler_(std::move(scheduler)),
      before_(this_thread.scheduler),
      surroundings_(outside_of(scheduler_.get())) {
  this_thread.scheduler = scheduler_.get();
}

Enter::~Enter() {
  ROUSE_ASSERT(this_thread.scheduler == scheduler_.get(),
               "an Enter was destroyed on another thread than the one that made it, or before one "
               "that was made later: keep it in a local variable");
  this_thread.scheduler = before_;
}

}  // namespace rouse
