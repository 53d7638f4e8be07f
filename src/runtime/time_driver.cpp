#include "runtime/time_driver.hpp"

#include <memory>
#include <optional>

#include "rouse/exec/park.hpp"

#include "time/timers.hpp"

namespace rouse {
namespace {

using time::TimeContext;
using time::Timers;

/// A paused clock that may not jump yet is looked at again after so long.
constexpr std::chrono::milliseconds paused_look(1);

void* enter_context(TimeContext* context) noexcept {
  return TimeContext::exchange_current(context);
}
void restore_context(void* before) noexcept {
  TimeContext::exchange_current(static_cast<TimeContext*>(before));
}

class TimeDriver final : public Driver {
 public:
  /// `jumps`: the paused clock goes by what this thread does.
  TimeDriver(RefPtr<Drivers> of, time::Clock& clock, Unparker unpark, bool jumps)
      : drivers_(std::move(of)),
        unpark_(unpark),
        timers_(time::acquire_timers(clock.now())),
        context_(timers_, clock, true),
        jumps_(jumps) {
    context_.can_pause = jumps;
    context_.unpark = [](void* self) noexcept { static_cast<TimeDriver*>(self)->unpark_(); };
    context_.unparked = this;
  }
  ~TimeDriver() override { time::release_timers(timers_); }

  void* enter() noexcept override { return enter_context(&context_); }
  void restore(void* before) noexcept override { restore_context(before); }
  void poll() noexcept override { timers_.fire_due(context_.clock); }
  void close() noexcept override { timers_.close(); }
  bool is_paused() const noexcept override { return context_.clock.is_paused(); }

  std::chrono::nanoseconds until_next(bool nothing_runs) noexcept override {
    if (!is_paused()) return timers_.sleep_time(context_.clock);
    const time::Instant next = timers_.next();
    if (next == time::Instant::max()) return Park::for_ever;
    if (next > context_.clock.now()) {
      if (!jumps_ || !nothing_runs) return paused_look;
      context_.clock.jump(next);
    }
    return std::chrono::nanoseconds(0);
  }

  Timers& timers() const noexcept { return timers_; }

 private:
  const RefPtr<Drivers> drivers_;
  const Unparker unpark_;
  Timers& timers_;
  TimeContext context_;
  const bool jumps_;
};

class Outside final : public Surroundings {
 public:
  Outside(Timers& timers, time::Clock& clock, Unparker unpark) noexcept
      : unpark_(unpark), context_(timers, clock, false) {
    context_.can_pause = false;
    context_.unpark = [](void* self) noexcept { static_cast<Outside*>(self)->unpark_(); };
    context_.unparked = this;
  }
  void* enter() noexcept override { return enter_context(&context_); }
  void restore(void* before) noexcept override { restore_context(before); }

 private:
  const Unparker unpark_;
  TimeContext context_;
};

class TimeDrivers final : public Drivers {
 public:
  TimeDrivers(bool can_pause, bool is_paused) noexcept : can_pause_(can_pause) {
    if (is_paused) clock_.pause();
  }

  std::unique_ptr<Driver> make(Unparker unpark) override {
    const bool is_first = !outside_;
    auto made = std::make_unique<TimeDriver>(RefPtr<Drivers>::share(this), clock_, unpark,
                                             is_first && can_pause_);
    if (is_first) outside_.emplace(made->timers(), clock_, unpark);
    return made;
  }
  Surroundings& outside() noexcept override { return *outside_; }

 private:
  const bool can_pause_;
  time::Clock clock_;
  std::optional<Outside> outside_;
};

}  // namespace

RefPtr<Drivers> make_time_drivers(bool can_pause, bool is_paused) {
  return RefPtr<Drivers>::adopt(new TimeDrivers(can_pause, is_paused));
}

}  // namespace rouse
