#include "runtime/drivers.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "io/reactor.hpp"
#include "time/timers.hpp"

namespace rouse {

using namespace internal;

// --- Waiting for I/O. ---

ReactorPark::ReactorPark() : reactor_(Reactor::make()) {}
ReactorPark::~ReactorPark() = default;

void ReactorPark::park(std::chrono::nanoseconds at_most) {
  if (state_.enter(ParkState::in_io_driver)) {
    reactor_->wait(at_most);
    has_waited_ = true;
  }
  state_.leave();
}

void ReactorPark::poll() {
  if (!std::exchange(has_waited_, false)) reactor_->wait(std::chrono::nanoseconds(0));
  reactor_->dispatch();
}

void ReactorPark::unpark() noexcept {
  if (state_.notify() == ParkState::in_io_driver) reactor_->wake();
}

// --- TimerDrivers. ---

namespace {

/// How often a paused clock that may not jump yet is checked again.
constexpr std::chrono::milliseconds paused_look(1);

DriverContext::Before exchange_context(TimeContext* timers, Reactor* reactor) noexcept {
  return {.timers = TimeContext::exchange_current(timers),
          .reactor = Reactor::exchange_current(reactor)};
}
void restore_context(DriverContext::Before before) noexcept {
  TimeContext::exchange_current(static_cast<TimeContext*>(before.timers));
  Reactor::exchange_current(static_cast<Reactor*>(before.reactor));
}

class RuntimeTimerDriver final : public TimerDriver {
 public:
  /// `jumps`: the paused clock goes by what this thread does. `is_main`: when no thread looks here
  /// any more, none does for I/O. `may_block`: the thread runs no tasks.
  RuntimeTimerDriver(RefPtr<RuntimeDrivers> of, time::Clock& clock, Unparker unpark, bool jumps,
                     bool is_main, bool may_block)
      : drivers_(std::move(of)),
        unpark_(unpark),
        timers_(acquire_timers(clock.now(), may_block)),
        context_(timers_, clock, true),
        jumps_(jumps),
        is_main_(is_main) {
    context_.can_pause = jumps;
    context_.unpark = [](void* self) noexcept {
      static_cast<RuntimeTimerDriver*>(self)->unpark_();
    };
    context_.unparked = this;
  }
  ~RuntimeTimerDriver() override { release_timers(timers_); }

  Before enter() noexcept override {
    return exchange_context(&context_, &drivers_->park().reactor());
  }
  void restore(Before before) noexcept override { restore_context(before); }
  std::size_t poll() noexcept override { return timers_.fire_due(context_.clock); }
  std::size_t poll_for_owner() noexcept override { return timers_.fire_for_owner(context_.clock); }
  void close() noexcept override {
    timers_.close();
    if (is_main_) drivers_->park().reactor().close();
  }
  bool is_paused() const noexcept override { return context_.clock.is_paused(); }
  const void* clock() const noexcept override { return &context_.clock; }
  void set_beside(TimerDriver* other) noexcept override {
    const bool is_of_one_runtime = other != nullptr && other->clock() == clock();
    context_.beside =
        is_of_one_runtime ? &static_cast<RuntimeTimerDriver*>(other)->timers_ : nullptr;
  }

  std::chrono::nanoseconds until_next(bool nothing_runs) noexcept override {
    if (!is_paused()) return timers_.sleep_time(context_.clock);
    const time::Instant next = context_.next();
    if (next == time::Instant::max()) return Park::for_ever;
    if (next > context_.clock.now()) {
      if (!jumps_ || !nothing_runs) return paused_look;
      context_.clock.jump(next);
    }
    return std::chrono::nanoseconds(0);
  }

  Timers& timers() const noexcept { return timers_; }

 private:
  const RefPtr<RuntimeDrivers> drivers_;
  const Unparker unpark_;
  Timers& timers_;
  TimeContext context_;
  const bool jumps_;
  const bool is_main_;
};

class SharedContext final : public DriverContext {
 public:
  SharedContext(Timers& timers, time::Clock& clock, Unparker unpark, Reactor& reactor) noexcept
      : unpark_(unpark), context_(timers, clock, false), reactor_(reactor) {
    context_.can_pause = false;
    context_.unpark = [](void* self) noexcept { static_cast<SharedContext*>(self)->unpark_(); };
    context_.unparked = this;
  }
  Before enter() noexcept override { return exchange_context(&context_, &reactor_); }
  void restore(Before before) noexcept override { restore_context(before); }

 private:
  const Unparker unpark_;
  TimeContext context_;
  Reactor& reactor_;
};

class AllDrivers final : public RuntimeDrivers {
 public:
  AllDrivers(std::size_t executors, bool is_paused) : executors_(executors) {
    if (is_paused) clock_.pause();
  }

  internal::Box<TimerDriver> make(Unparker unpark) override {
    const bool is_first = !shared_context_;
    const bool may_block = made_.load(memory_order_relaxed) >= executors_;
    auto made =
        internal::make_box<RuntimeTimerDriver>(RefPtr<RuntimeDrivers>::share(this), clock_, unpark,
                                               is_first && executors_ == 1, is_first, may_block);
    made_.fetch_add(1, memory_order_relaxed);
    if (is_first) shared_context_.emplace(made->timers(), clock_, unpark, park().reactor());
    return made;
  }
  DriverContext& shared_context() noexcept override { return *shared_context_; }
  IoMetrics io_metrics() const noexcept override {
    IoMetrics metrics;
    metrics.sources = park().reactor().sources();
    metrics.ready_events = park().reactor().events();
    return metrics;
  }

 private:
  const std::size_t executors_;
  atomic<std::size_t> made_{0};
  time::Clock clock_;
  std::optional<SharedContext> shared_context_;
};

}  // namespace

RefPtr<RuntimeDrivers> make_drivers(std::size_t executors, bool is_paused) {
  return RefPtr<RuntimeDrivers>::adopt(new AllDrivers(executors, is_paused));
}

}  // namespace rouse
