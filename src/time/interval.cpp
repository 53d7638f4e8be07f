#include "rouse/time/interval.hpp"

#include <utility>

namespace rouse {

Interval::Interval(time::Instant first, time::Nanoseconds period) noexcept
    : timer_(first), period_(period) {
  ROUSE_ASSERT(period > time::Nanoseconds::zero(),
               "an interval needs a period greater than zero; to let others run again and again, "
               "co_await yield_now()");
}

Interval::Interval(Interval&& other) noexcept
    : timer_((other.timer_.leave(), std::move(other.timer_))),
      period_(other.period_),
      missed_(other.missed_) {}

Interval& Interval::operator=(Interval&& other) noexcept {
  other.timer_.leave();
  timer_.reset(other.timer_.deadline);
  period_ = other.period_;
  missed_ = other.missed_;
  return *this;
}

Poll<time::Instant> Interval::poll_tick(Context& cx) {
  if (!timer_.poll(cx) || !cx.take_budget()) return pending;
  const time::Instant due = timer_.deadline;
  timer_.reset(after(due, time::now()));
  return Poll<time::Instant>::ready(due);
}

/// When the tick after the one that was `due` comes, which is taken now.
time::Instant Interval::after(time::Instant due, time::Instant now) const noexcept {
  const time::Instant next = time::add(due, period_);
  if (now < next || missed_ == MissedTick::burst) return next;
  if (missed_ == MissedTick::delay) return time::add(now, period_);
  // The difference of any two time points fits into 64 bits without a sign.
  const auto late = static_cast<std::uint64_t>(now.time_since_epoch().count()) -
                    static_cast<std::uint64_t>(due.time_since_epoch().count());
  const std::uint64_t since_last = late % static_cast<std::uint64_t>(period_.count());
  return time::add(now, period_ - time::Nanoseconds(static_cast<std::int64_t>(since_last)));
}

}  // namespace rouse
