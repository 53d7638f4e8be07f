#include "soak/watch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>

#include "support/process_figures.hpp"

namespace rouse::soak {
namespace {

using namespace std::chrono_literals;
using test::Latencies;

/// The 99th percentile of what came since the last time.
double recent_p99_ms(const Latencies& latencies, Latencies::Counts& before) {
  const Latencies::Counts now = latencies.counts();
  const double p99 = Latencies::percentile_ms(now, 0.99, before);
  before = now;
  return p99;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

Footprint Footprint::now() {
  Footprint seen;
  seen.memory_mib = static_cast<double>(test::resident_memory(::getpid())) / 1024;
  seen.descriptors = static_cast<double>(test::open_descriptors(::getpid()));
  seen.threads = static_cast<double>(test::threads_of(::getpid()));
  return seen;
}

Watch::Watch(std::string phase, const Figures& figures, std::chrono::seconds planned,
             std::atomic<bool>& stop_load)
    : phase_(std::move(phase)),
      figures_(figures),
      planned_(planned),
      stop_load_(stop_load),
      is_terminal_(::isatty(STDOUT_FILENO) == 1) {
  constexpr std::size_t samples_a_second = 10;
  samples_.reserve(samples_a_second * static_cast<std::size_t>(planned.count() + 60));
  thread_ = std::thread([this] { sample_until_stopped(); });
}

Watch::~Watch() { stop(); }

void Watch::stop() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

Watch::Quarters Watch::by_quarter(double Sample::* figure) const {
  Quarters medians{};
  const std::size_t size = samples_.size() / medians.size();
  for (std::size_t i = 0; i < medians.size(); ++i) {
    std::vector<double> values;
    for (std::size_t at = i * size; at < (i + 1) * size; ++at) {
      values.push_back(samples_[at].*figure);
    }
    medians.at(i) = median(std::move(values));
  }
  return medians;
}

void Watch::sample_until_stopped() {
  const auto between_lines = is_terminal_ ? 1s : 10s;
  const auto start = std::chrono::steady_clock::now();
  auto next_line = between_lines;
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, 100ms, [this] { return stop_; })) {
    take_sample();
    passed_ =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
    end_if_it_hangs();
    if (passed_ < next_line) continue;
    next_line = passed_ + between_lines;
    show();
  }
  if (is_terminal_) std::printf("\r\033[K");
}

/// By abort, so that a debugger or a core shows where.
void Watch::end_if_it_hangs() {
  const std::uint64_t done = figures_.replies.load(std::memory_order_relaxed) +
                             figures_.messages.load(std::memory_order_relaxed) +
                             figures_.timers.load(std::memory_order_relaxed);
  if (done != done_before_) {
    done_before_ = done;
    went_on_at_ = passed_;
  }
  if (passed_ - went_on_at_ < longest_standstill) return;
  std::fprintf(stderr,
               "soak: %s: no reply, no message and no timer for %d s: the runtime hangs; "
               "look at the threads of this core, or run it again in a debugger\n",
               phase_.c_str(), static_cast<int>(longest_standstill.count()));
  std::abort();
}

void Watch::take_sample() {
  Sample sample;
  static_cast<Footprint&>(sample) = Footprint::now();
  sample.echo_p99_ms = recent_p99_ms(figures_.round_trip, echo_before_);
  sample.tick_p99_ms = recent_p99_ms(figures_.tick, tick_before_);
  samples_.push_back(sample);
  peak_.memory_mib = std::max(peak_.memory_mib, sample.memory_mib);
  peak_.descriptors = std::max(peak_.descriptors, sample.descriptors);
  peak_.threads = std::max(peak_.threads, sample.threads);
  if (sample.memory_mib > most_memory_mib) stop_load_.store(true, std::memory_order_relaxed);
}

void Watch::show() const {
  const Sample& now = samples_.back();
  const std::uint64_t mistakes = figures_.mistakes.load(std::memory_order_relaxed);
  std::printf(
      "%s%s %lld/%lld s  %llu replies  %llu aborts  echo p99 %.1f max %.0f ms  "
      "tick p99 %.1f max %.0f ms  %.1f MiB  %.0f fds  %.0f threads%s%s",
      is_terminal_ ? "\r\033[K" : "  ", phase_.c_str(), static_cast<long long>(passed_.count()),
      static_cast<long long>(planned_.count()),
      static_cast<unsigned long long>(figures_.replies.load(std::memory_order_relaxed)),
      static_cast<unsigned long long>(figures_.aborted.load(std::memory_order_relaxed)),
      figures_.round_trip.percentile_ms(0.99), figures_.round_trip.max_ms(),
      figures_.tick.percentile_ms(0.99), figures_.tick.max_ms(), now.memory_mib, now.descriptors,
      now.threads, mistakes == 0 ? "" : "  MISTAKES", is_terminal_ ? "" : "\n");
  std::fflush(stdout);
}

}  // namespace rouse::soak
