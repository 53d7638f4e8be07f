#include "runtime/drivers.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "io/reactor.hpp"
#include "time/timers.hpp"

namespace rouse {

// --- Waiting for I/O. ---

ReactorPark::ReactorPark() : reactor_(io::Reactor::make()) {}
ReactorPark::~ReactorPark() = default;

void ReactorPark::park(std::chrono::nanoseconds at_most) {
  std::uint32_t expected = empty;
  if (state_.compare_exchange_strong(expected, parked, memory_order_relaxed,
                                     memory_order_relaxed)) {
    reactor_->wait(at_most);
  }
  // ORDER: acquire; sees what was written before the unpark.
  state_.exchange(empty, memory_order_acquire);
}

void ReactorPark::poll() {
  if (!reactor_->has_found()) reactor_->wait(std::chrono::nanoseconds(0));
  reactor_->hand_out();
}

void ReactorPark::unpark() noexcept {
  // ORDER: release; publishes what was written before.
  if (state_.exchange(notified, memory_order_release) == parked) reactor_->wake();
}

// --- Drivers. ---

namespace {

using io::Reactor;
using time::TimeContext;
using time::Timers;

/// A paused clock that may not jump yet is looked at again after so long.
constexpr std::chrono::milliseconds paused_look(1);

Surroundings::Before surround(TimeContext* timers, Reactor* reactor) noexcept {
  return {.timers = TimeContext::exchange_current(timers),
          .reactor = Reactor::exchange_current(reactor)};
}
void restore_surroundings(Surroundings::Before before) noexcept {
  TimeContext::exchange_current(static_cast<TimeContext*>(before.timers));
  Reactor::exchange_current(static_cast<Reactor*>(before.reactor));
}

class RuntimeDriver final : public Driver {
 public:
  /// `jumps`: the paused clock goes by what this thread does. `is_main`: when no thread looks here
  /// any more, none does for I/O. `may_block`: the thread runs no tasks.
  RuntimeDriver(RefPtr<RuntimeDrivers> of, time::Clock& clock, Unparker unpark, bool jumps,
                bool is_main, bool may_block)
      : drivers_(std::move(of)),
        unpark_(unpark),
        timers_(time::acquire_timers(clock.now(), may_block)),
        context_(timers_, clock, true),
        jumps_(jumps),
        is_main_(is_main) {
    context_.can_pause = jumps;
    context_.unpark = [](void* self) noexcept { static_cast<RuntimeDriver*>(self)->unpark_(); };
    context_.unparked = this;
  }
  ~RuntimeDriver() override { time::release_timers(timers_); }

  Before enter() noexcept override { return surround(&context_, &drivers_->park().reactor()); }
  void restore(Before before) noexcept override { restore_surroundings(before); }
  void poll() noexcept override { timers_.fire_due(context_.clock); }
  void poll_for_owner() noexcept override { timers_.fire_for_owner(context_.clock); }
  void close() noexcept override {
    timers_.close();
    if (is_main_) drivers_->park().reactor().close();
  }
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
  const RefPtr<RuntimeDrivers> drivers_;
  const Unparker unpark_;
  Timers& timers_;
  TimeContext context_;
  const bool jumps_;
  const bool is_main_;
};

class Outside final : public Surroundings {
 public:
  Outside(Timers& timers, time::Clock& clock, Unparker unpark, Reactor& reactor) noexcept
      : unpark_(unpark), context_(timers, clock, false), reactor_(reactor) {
    context_.can_pause = false;
    context_.unpark = [](void* self) noexcept { static_cast<Outside*>(self)->unpark_(); };
    context_.unparked = this;
  }
  Before enter() noexcept override { return surround(&context_, &reactor_); }
  void restore(Before before) noexcept override { restore_surroundings(before); }

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

  std::unique_ptr<Driver> make(Unparker unpark) override {
    const bool is_first = !outside_;
    const bool may_block = made_.load(memory_order_relaxed) >= executors_;
    auto made = std::make_unique<RuntimeDriver>(RefPtr<RuntimeDrivers>::share(this), clock_, unpark,
                                                is_first && executors_ == 1, is_first, may_block);
    made_.fetch_add(1, memory_order_relaxed);
    if (is_first) outside_.emplace(made->timers(), clock_, unpark, park().reactor());
    return made;
  }
  Surroundings& outside() noexcept override { return *outside_; }

 private:
  const std::size_t executors_;
  atomic<std::size_t> made_{0};
  time::Clock clock_;
  std::optional<Outside> outside_;
};

}  // namespace

RefPtr<RuntimeDrivers> make_drivers(std::size_t executors, bool is_paused) {
  return RefPtr<RuntimeDrivers>::adopt(new AllDrivers(executors, is_paused));
}

}  // namespace rouse
