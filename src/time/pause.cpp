#include "rouse/time/pause.hpp"

#include <algorithm>

#include "rouse/base/assert.hpp"

#include "time/timers.hpp"

namespace rouse::time {

using namespace internal;

namespace {

TimeContext& pausable(const char* call) noexcept {
  TimeContext* context = TimeContext::current();
  ROUSE_ASSERT(
      context && context->can_pause,
      "the clock can be paused and moved only in tasks of a runtime that runs them on one "
      "thread: build it with current_thread() or worker_threads(1). A LocalSet that runs beside "
      "it can't, either: do it in a task of the runtime",
      call);
  return *context;
}

}  // namespace

void pause() noexcept {
  Clock& clock = pausable("time::pause").clock;
  if (!clock.is_paused()) clock.pause();
}

void resume() noexcept {
  Clock& clock = pausable("time::resume").clock;
  if (clock.is_paused()) clock.resume();
}

bool is_paused() noexcept {
  const TimeContext* context = TimeContext::current();
  return context && context->clock.is_paused();
}

/// Advances to the next deadline, yields until the runtime has fired what is due there, then once
/// more so that the woken tasks run first.
Poll<void> Advance::poll(Context& cx) {
  TimeContext& context = pausable("time::advance");
  ROUSE_ASSERT(context.clock.is_paused(),
               "time::advance of a clock that is not paused: call time::pause() before");
  if (!has_begun_) {
    target_ = add(context.clock.now(), std::max(by_, Nanoseconds::zero()));
    has_begun_ = true;
  }
  const Instant next = context.next();
  const bool has_fired = next > context.clock.now() || next == Instant::max();
  if (has_fired && is_last_turn_) {
    if (context.clock.now() >= target_) return Poll<void>::ready();
    context.clock.jump(std::min(next, target_));
  }
  is_last_turn_ = has_fired && !is_last_turn_;
  cx.waker().wake_by_ref();
  return pending;
}

}  // namespace rouse::time
