// What timers cost: one created and cancelled, alone and beside a million others; a million created
// and fired, alone and as tasks that sleep: CPU time each, and the worst lateness; and the memory
// of a task that sleeps.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <deque>
#include <fstream>
#include <random>
#include <unistd.h>
#include <vector>

#include <benchmark/benchmark.h>

#include "rouse/core/async.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/time/sleep.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr int million = 1'000'000;

Runtime workers(const benchmark::State& state) {
  return Runtime::builder().worker_threads(static_cast<std::size_t>(state.range(0))).build();
}

std::vector<nanoseconds> random_durations(nanoseconds from, nanoseconds to) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> any(from.count(), to.count());
  std::vector<nanoseconds> durations;
  for (int i = 0; i < million; ++i) durations.emplace_back(any(random));
  return durations;
}

std::int64_t cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// Sleeps that were polled once, and what they were polled with.
class PolledOnce {
 public:
  using Output = void;
  PolledOnce(std::deque<Sleep>& live, const std::vector<nanoseconds>& durations)
      : live_(live), durations_(durations) {}
  Poll<void> poll(Context& cx) {
    for (const nanoseconds duration : durations_) {
      live_.emplace_back(time::now() + duration);
      benchmark::DoNotOptimize(live_.back().poll(cx).is_ready());
    }
    return Poll<void>::ready();
  }

 private:
  std::deque<Sleep>& live_;
  const std::vector<nanoseconds>& durations_;
};

class CreatedAndCancelled {
 public:
  using Output = void;
  explicit CreatedAndCancelled(const std::vector<nanoseconds>& durations) : durations_(durations) {}
  Poll<void> poll(Context& cx) {
    for (const nanoseconds duration : durations_) {
      Sleep timer = sleep(duration);
      benchmark::DoNotOptimize(timer.poll(cx).is_ready());
    }
    return Poll<void>::ready();
  }

 private:
  const std::vector<nanoseconds>& durations_;
};

void create_cancel(benchmark::State& state) {
  Runtime runtime = workers(state);
  const auto durations = random_durations(60s, 120s);
  std::deque<Sleep> live;
  if (state.range(1) != 0) runtime.block_on(PolledOnce(live, durations));
  const std::int64_t before = cpu_ns();
  for (auto _ : state) runtime.block_on(CreatedAndCancelled(durations));
  state.counters["cpu_ns_each"] =
      static_cast<double>(cpu_ns() - before) / million / static_cast<double>(state.iterations());
  state.SetItemsProcessed(state.iterations() * million);
}
BENCHMARK(create_cancel)
    ->ArgNames({"workers", "live"})
    ->Args({1, 0})
    ->Args({1, 1})
    ->Args({2, 1})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

std::atomic<std::int64_t> worst_ns{0};

void note_lateness(time::Instant deadline) {
  const std::int64_t late = (time::now() - deadline).count();
  if (late > worst_ns.load(std::memory_order_relaxed)) worst_ns = late;
}

/// A timer and who waits for it. The last of `left` to be woken wakes `all`.
class Fired : public RefCounted<Fired> {
 public:
  Fired(time::Instant deadline, std::atomic<std::size_t>& left, Waker& all)
      : timer_(deadline), left_(left), all_(all) {}
  void start() {
    const Waker waker = make_waker(RefPtr<Fired>::share(this));
    Context cx(waker);
    if (timer_.poll(cx).is_ready()) wake();  // time is up already
  }
  void wake() {
    note_lateness(timer_.deadline());
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) all_.wake_by_ref();
  }

 private:
  Sleep timer_;
  std::atomic<std::size_t>& left_;
  Waker& all_;
};

/// Completes when timers of all these durations have fired.
class AllFired {
 public:
  using Output = void;
  AllFired(const nanoseconds* durations, std::size_t count)
      : durations_(durations), count_(count) {}
  Poll<void> poll(Context& cx) {
    if (!timers_.empty()) {
      return left_.load(std::memory_order_acquire) == 0 ? Poll<void>::ready() : Poll<void>(pending);
    }
    waker_ = cx.waker();
    left_ = count_ + 1;  // one for the loop below
    timers_.reserve(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      timers_.push_back(make_ref<Fired>(time::now() + durations_[i], left_, waker_));
      timers_.back()->start();
    }
    return left_.fetch_sub(1) == 1 ? Poll<void>::ready() : Poll<void>(pending);
  }

 private:
  const nanoseconds* durations_;
  std::size_t count_;
  std::atomic<std::size_t> left_{0};
  Waker waker_;
  std::vector<RefPtr<Fired>> timers_;
};
Async<void> all_fired(const nanoseconds* durations, std::size_t count) {
  co_await AllFired(durations, count);
}
Async<void> all_fired_on(std::size_t workers, const nanoseconds* durations) {
  std::vector<JoinHandle<>> parts;
  for (std::size_t i = 0; i < workers; ++i) {
    parts.push_back(spawn(all_fired, durations + i * million / workers, million / workers));
  }
  for (auto& part : parts) co_await part;
}

void report(benchmark::State& state, std::int64_t cpu_before) {
  state.counters["cpu_ns_each"] = static_cast<double>(cpu_ns() - cpu_before) / million;
  state.counters["worst_late_ms"] = static_cast<double>(worst_ns) / 1e6;
}

void timers_fire(benchmark::State& state) {
  Runtime runtime = workers(state);
  const auto durations = random_durations(2s, 4s);
  for (auto _ : state) {
    worst_ns = 0;
    const std::int64_t before = cpu_ns();
    runtime.block_on(all_fired_on(static_cast<std::size_t>(state.range(0)), durations.data()));
    report(state, before);
  }
}
BENCHMARK(timers_fire)
    ->ArgName("workers")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

Async<void> sleeper(time::Instant until) {
  co_await sleep_until(until);
  note_lateness(until);
}

Async<void> spawn_sleepers(const std::vector<nanoseconds>& durations,
                           std::vector<JoinHandle<>>& handles) {
  for (const nanoseconds duration : durations) {
    handles.push_back(spawn(sleeper, time::now() + duration));
  }
  co_return;
}
Async<void> join(std::vector<JoinHandle<>>& handles) {
  for (auto& handle : handles) co_await handle;
}

/// The deadlines are spread over two seconds; all sleep before the first is due.
void tasks_sleep(benchmark::State& state) {
  Runtime runtime = workers(state);
  const auto durations = random_durations(2s, 4s);
  for (auto _ : state) {
    worst_ns = 0;
    std::vector<JoinHandle<>> handles;
    handles.reserve(million);
    const std::int64_t before = cpu_ns();
    runtime.block_on(spawn_sleepers(durations, handles));
    runtime.block_on(join(handles));
    report(state, before);
  }
}
BENCHMARK(tasks_sleep)
    ->ArgName("workers")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

Async<void> sleep_for_an_hour() { co_await sleep(1h); }
/// Lets them run now and then, so that what grows is their memory, not the run queue.
Async<void> spawn_long_sleepers(std::vector<JoinHandle<>>& handles) {
  for (int i = 0; i < million; ++i) {
    handles.push_back(spawn(sleep_for_an_hour));
    if (i % 64 == 0) co_await yield_now();
  }
}

/// To be run alone: memory that another benchmark gave back is used again.
void sleeping_task(benchmark::State& state) {
  std::vector<JoinHandle<>> handles;
  handles.reserve(million);
  for (auto _ : state) {
    Runtime runtime = workers(state);
    runtime.block_on(sleep(1ms));
    const std::int64_t before = resident_bytes();
    runtime.block_on(spawn_long_sleepers(handles));
    runtime.block_on(sleep(1s));
    state.counters["bytes"] = static_cast<double>(resident_bytes() - before) / million;
    for (auto& handle : handles) std::move(handle).detach();
  }
}
BENCHMARK(sleeping_task)
    ->ArgName("workers")
    ->Arg(1)
    ->UseRealTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
