// soak: runs rouse at full load for a long time, on two workers and then on one thread, and says
// whether anything went wrong: a wrong or lost result; memory, descriptors, threads or latencies
// that grow; descriptors, threads or objects that stay behind. Ctrl-C ends it early, with the
// result until then.
// usage: soak [SECONDS]                                            (default: 600)
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
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

std::atomic<bool> told_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

bool is_told_to_stop() { return told_to_stop.load(std::memory_order_relaxed); }

/// The second time it ends the process, as if there were no handler.
void stop_at(int signal) {
  struct sigaction action{};
  action.sa_handler = [](int) { told_to_stop.store(true, std::memory_order_relaxed); };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(signal, &action, nullptr);
}

class Verdict {
 public:
  void begin(const std::string& phase) { phase_ = phase; }
  void fail(const std::string& why) { reasons_.push_back(phase_ + ": " + why); }
  [[nodiscard]] bool is_good() const noexcept { return reasons_.empty(); }
  [[nodiscard]] const std::vector<std::string>& reasons() const noexcept { return reasons_; }

 private:
  std::string phase_;
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
  if (!did_all && !is_told_to_stop()) verdict.fail("some part of the load did nothing at all");
}

/// How much more a figure may be in the last quarter of the time than in the second. The first is
/// for warming up.
class Sway {
 public:
  constexpr Sway(double factor, double more) noexcept : factor_(factor), more_(more) {}
  [[nodiscard]] double most(double before) const noexcept { return before * factor_ + more_; }

 private:
  double factor_;
  double more_;
};

void check_growth(const char* what, const char* unit, const Watch::Quarters& median, Sway sway,
                  Verdict& verdict) {
  std::printf("  %-12s %.1f, %.1f, %.1f, %.1f%s in the four quarters%s\n", what, median[0],
              median[1], median[2], median[3], unit,
              test::sanitized ? " (with a sanitizer: not judged)" : "");
  const double most = sway.most(median[1]);
  if (test::sanitized || median[3] <= most) return;
  std::array<char, 200> reason{};
  std::snprintf(reason.data(), reason.size(),
                "%s grew from %.1f%s in the second quarter of the time to %.1f%s in the last; "
                "up to %.1f%s were fine",
                what, median[1], unit, median[3], unit, most, unit);
  verdict.fail(reason.data());
}

void check_trends(const Watch& watch, Verdict& verdict) {
  // How much time the machine has for us changes, and with it how many calls block at once. In a
  // short time that is all there is to see.
  constexpr Sway threads(2, 64);
  const bool is_short = watch.passed() < 30s;
  const Sway latency = is_short ? Sway(1, 60'000) : Sway(4, 250);
  const Sway memory = is_short ? Sway(2, 16) : Sway(1.05, 4);
  check_growth("memory", " MiB", watch.by_quarter(&Sample::memory_mib), memory, verdict);
  check_growth("descriptors", "", watch.by_quarter(&Sample::descriptors), Sway(1, 16), verdict);
  check_growth("threads", "", watch.by_quarter(&Sample::threads), threads, verdict);
  check_growth("echo p99", " ms", watch.by_quarter(&Sample::echo_p99_ms), latency, verdict);
  check_growth("tick p99", " ms", watch.by_quarter(&Sample::tick_p99_ms), latency, verdict);
  if (watch.peak().memory_mib > Watch::most_memory_mib) {
    verdict.fail("stopped: the process has more than " +
                 std::to_string(static_cast<int>(Watch::most_memory_mib)) + " MiB of memory");
  }
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

void check_left(const char* what, double before, double after, Verdict& verdict) {
  if (after == before) return;
  verdict.fail(std::string(what) + ": " + std::to_string(static_cast<int>(before)) + " before, " +
               std::to_string(static_cast<int>(after)) + " after the runtime is gone");
}

/// `threads`: how many there are without a runtime.
void run_phase(const std::string& name, const RuntimeBuilder& builder, std::chrono::seconds time,
               double threads, Verdict& verdict) {
  verdict.begin(name);
  Footprint before = Footprint::now();
  before.threads = threads;
  before = settled(before);
  Figures figures;
  Watch watch(name, figures, time, told_to_stop);
  {
    Runtime runtime = builder.build();
    runtime.block_on(full_load(figures, End(time::now() + time, told_to_stop)));
  }
  watch.stop();
  const Footprint after = settled(before);

  std::printf("%s, %lld s\n", name.c_str(), static_cast<long long>(watch.passed().count()));
  check_results(figures, verdict);
  check_trends(watch, verdict);
  std::printf(
      "  at the end   %.0f descriptors, %.0f threads; before: %.0f, %.0f; peak: %.0f, %.0f\n",
      after.descriptors, after.threads, before.descriptors, before.threads,
      watch.peak().descriptors, watch.peak().threads);
  check_left("descriptors", before.descriptors, after.descriptors, verdict);
  check_left("threads", before.threads, after.threads, verdict);
  std::fflush(stdout);
}

int run(std::chrono::seconds time) {
  const double threads = Footprint::now().threads;
  {
    const Runtime warm_up = Runtime::builder().worker_threads(2).build();
  }
  Verdict verdict;
  const auto half = std::max(1s, time / 2);
  run_phase("2 workers", Runtime::builder().worker_threads(2), half, threads, verdict);
  if (!is_told_to_stop()) {
    run_phase("current_thread", Runtime::builder().current_thread(), half, threads, verdict);
  }
  for (const std::string& reason : verdict.reasons()) std::printf("FAILED: %s\n", reason.c_str());
  if (verdict.is_good()) {
    std::printf("ok%s: nothing lost, nothing wrong, nothing left\n",
                is_told_to_stop() ? ", until it was interrupted" : "");
  }
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
  rouse::soak::stop_at(SIGINT);
  rouse::soak::stop_at(SIGTERM);
  return rouse::soak::run(std::chrono::seconds(seconds));
}
