#include "sight/sight_thread.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "exec/task/sample.hpp"
#include "sight/inspector.hpp"
#include "sight/recording.hpp"
#include "sight/signal_dumps.hpp"
#include "sight/stuck_watch.hpp"
#include "sight/value_or_throw.hpp"
#include "sight/watchdog.hpp"
#include "sys/interrupt.hpp"
#include "sys/process_fork.hpp"
#include "sys/signal.hpp"

namespace rouse::sight {
namespace {

/// For a dump, whose tables are on the arena.
constexpr std::size_t stack_size = std::size_t{256} * 1024;

}  // namespace

void Duty::ready(std::uint32_t, std::uint64_t) noexcept {}

Sight::Thread::Sampled::Sampled(const Options& options) {
  const int chosen = options.sample_signal();
  const int number = chosen == 0 ? sys::default_interrupt() : chosen;
  const Result<void> begun = rouse::internal::begin_sampling(number);
  if (begun) return;
  throw std::system_error(begun.error(),
                          "sight::start: the signal that asks a thread what it polls has a handler "
                          "already, or can't be caught: choose another by "
                          "Options::sample_signal");
}
Sight::Thread::Sampled::~Sampled() { rouse::internal::end_sampling(); }

Sight::Thread::Thread(const Options& options)
    : process_forks_before_(sys::process_forks()),
      sampled_(options),
      poller_(value_or_throw(sys::Poller::make(), "sight::start")) {
  if (!options.signals().empty()) add<SignalDumps>(options);
  if (options.socket_path() || options.tcp_port()) inspector_ = add<Inspector>(options);
  if (options.watches()) watching_.emplace();
  if (options.recorded_bytes() != 0) add<Recording>(options);
  if (options.slow_poll_threshold() != std::chrono::nanoseconds()) add<Watchdog>(options);
  if (options.stuck_interval() != std::chrono::nanoseconds()) add<StuckWatch>(options);
  std::vector<int> signals;
  for (const Options::SignalDump& dump : options.signals()) signals.push_back(dump.number);
  thread_ =
      value_or_throw(sys::Thread::start({.name = "rouse-sight", .stack_size = stack_size},
                                        [this, signals = std::move(signals)] { run(signals); }),
                     "sight::start");
}

Sight::Thread::~Thread() {
  if (sys::process_forks() != process_forks_before_) {
    thread_.forget();
    return;
  }
  is_ending_.store(true, memory_order_relaxed);  // `wake` publishes it
  poller_->wake();
  thread_.join();
}

template <class P>
P* Sight::Thread::add(const Options& options) {
  const Watch watch(*poller_, static_cast<std::uint32_t>(duties_.size()));
  auto made = rouse::internal::make_box<P>(options, watch);
  P* const duty = made.get();
  duties_.emplace_back(std::move(made));
  return duty;
}

std::string Sight::Thread::url() const {
  return inspector_ != nullptr ? inspector_->url() : std::string();
}
std::string Sight::Thread::socket_path() const {
  return inspector_ != nullptr ? inspector_->socket_path() : std::string();
}

/// Takes these signals, also if all other threads block them; and no other one, which may be for a
/// thread of the program, and whose handler may do anything.
void Sight::Thread::run(std::span<const int> signals) noexcept {
  sys::take_only_signals(signals);
  while (!is_ending_.load(memory_order_relaxed)) {
    std::chrono::nanoseconds at_most = std::chrono::nanoseconds::max();
    for (const auto& duty : duties_) at_most = std::min(at_most, duty->look());
    for (const sys::Event& event : poller_->wait(at_most)) {
      duties_[event.token >> 32]->ready(static_cast<std::uint32_t>(event.token), event.ready);
    }
  }
}

}  // namespace rouse::sight
