#include "rouse/time/delay_queue.hpp"

#include "rouse/base/assert.hpp"

#include "time/timer_wheel.hpp"

namespace rouse::internal {
namespace {

TimerWheel& checked(const Box<TimerWheel>& wheel) noexcept {
  ROUSE_ASSERT(wheel, "use of a DelayQueue that was moved from: use the one it went to");
  return *wheel;
}

}  // namespace

DelayCore::DelayCore() : wheel_(make_box<TimerWheel>()), timer_(time::Instant::max()) {}
DelayCore::DelayCore(DelayCore&& other) noexcept = default;
DelayCore::~DelayCore() = default;

void DelayCore::insert(WheelNode& node) {
  if (checked(wheel_).empty()) wheel_->restart(TimerWheel::tick_before(time::now()));
  wheel_->insert(node);
  if (node.deadline < timer_.deadline) timer_.reset(node.deadline);
}

void DelayCore::remove(WheelNode& node) noexcept { checked(wheel_).remove(node); }

WheelNode* DelayCore::peek() noexcept { return checked(wheel_).peek(); }

void DelayCore::tell_if_empty() {
  if (checked(wheel_).empty() && !timer_.has_fired()) timer_.reset(time::Instant::min());
}

Poll<WheelNode*> DelayCore::poll(Context& cx) {
  if (!cx.has_budget()) return pending;
  for (;;) {
    checked(wheel_).advance(TimerWheel::tick_before(time::now()));
    if (WheelNode* node = wheel_->pop_due()) {
      static_cast<void>(cx.take_budget());  // there is some
      return Poll<WheelNode*>::ready(node);
    }
    if (wheel_->empty()) return Poll<WheelNode*>::ready(nullptr);
    const time::Instant next = TimerWheel::time_of(wheel_->next_tick());
    if (timer_.deadline != next) timer_.reset(next);
    if (!timer_.poll(cx)) return pending;
    if (next == time::Instant::max()) {  // a paused clock that has come to the end of time
      static_cast<void>(cx.take_budget());
      return Poll<WheelNode*>::ready(wheel_->pop_any());
    }
  }
}

}  // namespace rouse::internal
