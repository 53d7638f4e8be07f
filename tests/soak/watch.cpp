#include "soak/watch.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <unistd.h>
#include <utility>

#include "support/process_figures.hpp"

namespace rouse::soak {
namespace {

using namespace std::chrono_literals;

double median(std::vector<std::size_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return static_cast<double>(*middle);
}

}  // namespace

Footprint Footprint::now() {
  Footprint seen;
  seen.memory_kib = test::resident_memory(::getpid());
  seen.descriptors = test::open_descriptors(::getpid());
  seen.threads = test::threads_of(::getpid());
  return seen;
}

Watch::Watch(std::string phase, const Figures& figures, std::chrono::seconds planned)
    : phase_(std::move(phase)), figures_(figures), planned_(planned) {
  constexpr std::size_t samples_a_second = 10;
  memory_kib_.reserve(samples_a_second * static_cast<std::size_t>(planned.count() + 60));
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

std::vector<double> Watch::memory_by_quarter() {
  stop();
  std::vector<double> quarters;
  const std::size_t size = memory_kib_.size() / 4;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto begin = memory_kib_.begin() + static_cast<std::ptrdiff_t>(i * size);
    quarters.push_back(median({begin, begin + static_cast<std::ptrdiff_t>(size)}) / 1024);
  }
  return quarters;
}

void Watch::sample_until_stopped() {
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  const auto between_lines = is_terminal ? 1s : 10s;
  const auto start = std::chrono::steady_clock::now();
  auto next_line = between_lines;
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, 100ms, [this] { return stop_; })) {
    const Footprint now = Footprint::now();
    memory_kib_.push_back(now.memory_kib);
    peak_.memory_kib = std::max(peak_.memory_kib, now.memory_kib);
    peak_.descriptors = std::max(peak_.descriptors, now.descriptors);
    peak_.threads = std::max(peak_.threads, now.threads);
    const auto passed =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
    if (passed < next_line) continue;
    next_line = passed + between_lines;
    show(now, passed);
  }
  if (is_terminal) std::printf("\r\033[K");
}

void Watch::show(const Footprint& now, std::chrono::seconds passed) const {
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  std::printf(
      "%s%s %lld/%lld s  %llu replies  %llu aborts  echo p99 %.1f ms  tick p99 %.1f ms  "
      "%.1f MiB  %zu fds  %zu threads%s%s",
      is_terminal ? "\r\033[K" : "  ", phase_.c_str(), static_cast<long long>(passed.count()),
      static_cast<long long>(planned_.count()),
      static_cast<unsigned long long>(figures_.replies.load(std::memory_order_relaxed)),
      static_cast<unsigned long long>(figures_.aborted.load(std::memory_order_relaxed)),
      figures_.round_trip.percentile_ms(0.99), figures_.tick.percentile_ms(0.99),
      static_cast<double>(now.memory_kib) / 1024, now.descriptors, now.threads,
      figures_.mistakes.load(std::memory_order_relaxed) == 0 ? "" : "  MISTAKES",
      is_terminal ? "" : "\n");
  std::fflush(stdout);
}

}  // namespace rouse::soak
