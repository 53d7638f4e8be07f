#include "rouse/time/internal/timer_entry.hpp"

#include "time/timers.hpp"

namespace rouse::internal {

TimerEntry::TimerEntry(time::Instant at) noexcept : TimerEntry(at, time::now()) {}

Timers* TimerEntry::timers() const noexcept {
  const std::uintptr_t place = load();
  return place > fired ? reinterpret_cast<Timers*>(place) : nullptr;
}

bool TimerEntry::poll(Context& cx) {
  const TimeContext* here = TimeContext::current();
  if (Timers* in = timers()) {
    if (in->keep_waker(*this, cx, here ? &here->timers : nullptr)) return false;
  }
  if (has_fired()) return true;
  ROUSE_ASSERT(here,
               "a sleep, timeout or interval was polled outside of a runtime, where nobody looks "
               "after timers: run it in rouse::run or Runtime::block_on, or keep `auto here = "
               "rt.enter();` while this thread blocks on it or runs a LocalExecutor");
  switch (here->timers.insert(*this, cx.waker())) {
    case Timers::Inserted::before_wake_up:
      // Also where this thread is the owner: it may have given its worker away meanwhile.
      if (here->unpark) here->unpark(here->unparked);
      return false;
    case Timers::Inserted::yes:
    case Timers::Inserted::closed:  // the runtime has ended: so will the task
      return false;
  }
  return false;
}

void TimerEntry::reset(time::Instant at) {
  const TimeContext* here = TimeContext::current();
  if (Timers* in = timers()) {
    const bool is_own = here && here->is_owner && &here->timers == in;
    if (in->move(*this, at, is_own)) return;
  }
  deadline = at;
  place_.store(at <= time::now() ? fired : fresh, memory_order_relaxed);
}

void TimerEntry::cancel() noexcept {
  if (Timers* in = timers()) in->cancel(*this);
}

}  // namespace rouse::internal
