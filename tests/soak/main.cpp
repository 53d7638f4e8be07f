// soak: runs rouse at full load for a long time, on two workers and then on one thread, and says
// whether anything went wrong: a wrong or lost result, memory that grows, descriptors, threads or
// objects that stay behind.
// usage: soak [SECONDS]                                            (default: 600)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "rouse/runtime/runtime.hpp"
#include "rouse/time/instant.hpp"

#include "soak/load.hpp"
#include "soak/watch.hpp"
#include "support/sanitizer.hpp"

namespace rouse::soak {
namespace {

using namespace std::chrono_literals;

class Verdict {
 public:
  void fail(const std::string& why) { reasons_.push_back(why); }
  [[nodiscard]] bool is_good() const noexcept { return reasons_.empty(); }
  [[nodiscard]] const std::vector<std::string>& reasons() const noexcept { return reasons_; }

 private:
  std::vector<std::string> reasons_;
};

unsigned long long value(const Figures::Count& count) {
  return count.load(std::memory_order_relaxed);
}

void print(const char* what, const test::Latencies& latencies) {
  std::printf("  %-12s p50 %.3f ms, p99 %.3f ms, max %.1f ms (%llu)\n", what,
              latencies.percentile_ms(0.5), latencies.percentile_ms(0.99), latencies.max_ms(),
              static_cast<unsigned long long>(latencies.total()));
}

void check_results(const Figures& figures, Verdict& verdict) {
  std::printf(
      "  done         %llu replies, %llu cut short, %llu messages, %llu timers, "
      "%llu aborts, %llu blocking calls\n",
      value(figures.replies), value(figures.cut), value(figures.messages), value(figures.timers),
      value(figures.aborted), value(figures.blocking));
  print("echo", figures.round_trip);
  print("1 ms tick", figures.tick);
  if (value(figures.mistakes) != 0) {
    verdict.fail(std::to_string(value(figures.mistakes)) +
                 " wrong results; the first: " + figures.first_mistake());
  }
  if (value(figures.guards) != 0) {
    verdict.fail(std::to_string(value(figures.guards)) + " objects of aborted tasks are left");
  }
  const bool did_all = value(figures.replies) != 0 && value(figures.messages) != 0 &&
                       value(figures.timers) != 0 && value(figures.aborted) != 0 &&
                       value(figures.blocking) != 0 && figures.tick.total() != 0;
  if (!did_all) verdict.fail("some part of the load did nothing at all");
}

/// The first quarter is for warming up. Then the memory stays, but for what a median may sway.
void check_memory(const std::vector<double>& mib, Verdict& verdict) {
  constexpr double sway_mib = 4;
  constexpr double sway = 1.05;
  std::printf("  memory       %.1f, %.1f, %.1f, %.1f MiB in the four quarters%s\n", mib[0], mib[1],
              mib[2], mib[3], test::sanitized ? " (a sanitizer's, too: not judged)" : "");
  if (!test::sanitized && mib[3] > mib[1] * sway + sway_mib) verdict.fail("the memory grows");
}

/// A thread that was joined may be listed for some moments.
Footprint settled(const Footprint& wanted) {
  Footprint now = Footprint::now();
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while ((now.descriptors > wanted.descriptors || now.threads > wanted.threads) &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(10ms);
    now = Footprint::now();
  }
  return now;
}

void run_phase(const std::string& name, const RuntimeBuilder& builder, std::chrono::seconds time,
               Verdict& verdict) {
  const Footprint before = Footprint::now();
  Figures figures;
  Watch watch(name, figures, time);
  {
    Runtime runtime = builder.build();
    runtime.block_on(full_load(figures, time::now() + time));
  }
  const std::vector<double> memory = watch.memory_by_quarter();
  const Footprint after = settled(before);

  std::printf("%s, %lld s\n", name.c_str(), static_cast<long long>(time.count()));
  check_results(figures, verdict);
  check_memory(memory, verdict);
  std::printf("  descriptors  %zu before, %zu at most, %zu after\n", before.descriptors,
              watch.peak().descriptors, after.descriptors);
  std::printf("  threads      %zu before, %zu at most, %zu after\n", before.threads,
              watch.peak().threads, after.threads);
  if (after.descriptors != before.descriptors) verdict.fail("descriptors are left open");
  if (after.threads != before.threads) verdict.fail("threads are left");
}

int run(std::chrono::seconds time) {
  {
    const Runtime warm_up = Runtime::builder().worker_threads(2).build();
  }
  Verdict verdict;
  const auto half = std::max(1s, time / 2);
  run_phase("2 workers", Runtime::builder().worker_threads(2), half, verdict);
  run_phase("current_thread", Runtime::builder().current_thread(), half, verdict);
  for (const std::string& reason : verdict.reasons()) std::printf("FAILED: %s\n", reason.c_str());
  if (verdict.is_good()) std::printf("ok: nothing lost, nothing wrong, nothing left\n");
  return verdict.is_good() ? 0 : 1;
}

}  // namespace
}  // namespace rouse::soak

int main(int argc, char** argv) {
  const long seconds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 600;
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: soak [SECONDS]\n");
    return 2;
  }
  return rouse::soak::run(std::chrono::seconds(seconds));
}
