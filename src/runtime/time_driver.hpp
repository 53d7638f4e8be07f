// TimeDrivers: the timers of a runtime, as exec's threads use them: one set for each worker, and
// one clock for all.
#pragma once

#include "rouse/exec/driver.hpp"

namespace rouse {

/// `can_pause`: the runtime polls tasks on one thread only. `is_paused`: its clock stands still.
RefPtr<Drivers> make_time_drivers(bool can_pause, bool is_paused);

}  // namespace rouse
