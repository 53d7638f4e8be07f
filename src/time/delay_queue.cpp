#include "rouse/time/delay_queue.hpp"

#include "time/timer_wheel.hpp"

namespace rouse::time {

DelayCore::DelayCore() : wheel_(std::make_unique<TimerWheel>()), timer_(Instant::max()) {}
DelayCore::DelayCore(DelayCore&& other) noexcept = default;
DelayCore::~DelayCore() = default;

void DelayCore::insert(WheelNode& node) {
  if (wheel_->is_empty()) wheel_->restart(TimerWheel::tick_before(now()));
  wheel_->insert(node);
  if (node.deadline < timer_.deadline) timer_.reset(node.deadline);
}

void DelayCore::remove(WheelNode& node) noexcept { wheel_->remove(node); }

void DelayCore::tell_if_empty() {
  if (wheel_->is_empty() && !timer_.has_fired()) timer_.reset(Instant::min());
}

Poll<WheelNode*> DelayCore::poll(Context& cx) {
  if (!cx.has_budget()) return pending;
  for (;;) {
    wheel_->advance(TimerWheel::tick_before(now()));
    if (WheelNode* node = wheel_->pop_due()) {
      static_cast<void>(cx.take_budget());  // there is some
      return Poll<WheelNode*>::ready(node);
    }
    if (wheel_->is_empty()) return Poll<WheelNode*>::ready(nullptr);
    const Instant next = TimerWheel::time_of(wheel_->next_tick());
    if (timer_.deadline != next) timer_.reset(next);
    if (!timer_.poll(cx)) return pending;
    if (next == Instant::max()) {  // a paused clock that has come to the end of time
      static_cast<void>(cx.take_budget());
      return Poll<WheelNode*>::ready(wheel_->pop_any());
    }
  }
}

}  // namespace rouse::time
