// What timers cost: made and cancelled beside others that live, a million that fire, and the memory
// of a task that sleeps.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "rouse/core/async.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/time/sleep.hpp"

#include "rows.hpp"
#include "support/measure.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

using namespace rouse;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

std::vector<nanoseconds> random_durations(long n, nanoseconds low, nanoseconds high) {
  Random random;
  std::vector<nanoseconds> durations;
  for (long i = 0; i < n; ++i) durations.push_back(random.between(low, high));
  return durations;
}

/// Polls timers of these durations once, and keeps them.
auto start_all(std::deque<Sleep>& live, const std::vector<nanoseconds>& durations) {
  return poll_fn([&](Context& cx) {
    for (const nanoseconds duration : durations) {
      live.emplace_back(time::now() + duration);
      keep(live.back().poll(cx).is_ready());
    }
    return Poll<void>::ready();
  });
}
/// Polls timers of these durations once, and drops them.
auto start_and_cancel(const std::vector<nanoseconds>& durations) {
  return poll_fn([&](Context& cx) {
    for (const nanoseconds duration : durations) {
      Sleep timer = sleep(duration);
      keep(timer.poll(cx).is_ready());
    }
    return Poll<void>::ready();
  });
}

Async<void> sleeper(time::Instant until, std::atomic<std::int64_t>& worst_ns) {
  co_await sleep_until(until);
  const std::int64_t late = (time::now() - until).count();
  std::int64_t worst = worst_ns.load(std::memory_order_relaxed);
  while (late > worst && !worst_ns.compare_exchange_weak(worst, late)) {
  }
}
Async<void> sleep_in_tasks(const std::vector<nanoseconds>& durations,
                           std::atomic<std::int64_t>& worst_ns) {
  const time::Instant start = time::now();
  std::vector<JoinHandle<>> handles;
  handles.reserve(durations.size());
  for (const nanoseconds duration : durations) {
    handles.push_back(spawn(sleeper, start + duration, std::ref(worst_ns)));
  }
  for (auto& handle : handles) co_await handle;
}

std::atomic<long> sleeping_tasks{0};

Async<void> sleep_for_an_hour() {
  ++sleeping_tasks;
  co_await sleep(1h);
}
/// Lets them run now and then, so that what grows is their memory, not the run queue.
Async<void> spawn_sleeping(long n) {
  for (long i = 0; i < n; ++i) {
    spawn(sleep_for_an_hour).detach();
    if (i % 64 == 0) co_await yield_now();
  }
  while (sleeping_tasks != n) co_await yield_now();
}

}  // namespace

Values timer_cancel(unsigned workers, long n) {
  Runtime rt = make_runtime(workers);
  std::deque<Sleep> live;
  const auto lives = random_durations(n, 60s, 120s);
  rt.block_on(start_all(live, lives));
  constexpr long cancelled = 500'000;
  const auto durations = random_durations(cancelled, 60s, 120s);
  return {mean_ns(cancelled, [&] { rt.block_on(start_and_cancel(durations)); })};
}

Values timer_fire(unsigned workers, long n) {
  Runtime rt = make_runtime(workers);
  const auto durations = random_durations(n, 1500ms, 2500ms);
  std::atomic<std::int64_t> worst_ns{0};
  const auto before = process_cpu_ns();
  rt.block_on(sleep_in_tasks(durations, worst_ns));
  const auto cpu = static_cast<double>(process_cpu_ns() - before);
  return {cpu / static_cast<double>(n), static_cast<double>(worst_ns) / 1e6};
}

Values sleeping_task_bytes(unsigned workers, long n) {
  Runtime rt = make_runtime(workers);
  rt.block_on(sleep(1ms));  // what timers need at all
  const auto before = resident_bytes();
  rt.block_on(spawn_sleeping(n));
  return {static_cast<double>(resident_bytes() - before) / static_cast<double>(n)};
}

}  // namespace bench
