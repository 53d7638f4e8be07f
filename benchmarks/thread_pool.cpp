// What tasks cost on a ThreadPool of one and of two workers: spawn and join, a million spawned,
// yield, ping-pong.
#include "rouse/exec/thread_pool.hpp"

#include <atomic>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "rouse/core/async.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/future/yield_now.hpp"

namespace {

using namespace rouse;

ThreadPoolConfig workers(benchmark::State& state) {
  ThreadPoolConfig config;
  config.workers = static_cast<std::size_t>(state.range(0));
  return config;
}

Async<int> one() { co_return 1; }

Async<long> spawn_and_join(int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += co_await spawn(one);
  co_return sum;
}
void spawn_join(benchmark::State& state) {
  constexpr int tasks = 100'000;
  const ThreadPool pool(workers(state));
  for (auto _ : state) benchmark::DoNotOptimize(block_on(pool.spawn(spawn_and_join, tasks)));
  state.SetItemsProcessed(state.iterations() * tasks);
}
BENCHMARK(spawn_join)->Arg(1)->Arg(2)->UseRealTime();

Async<long> spawn_all(int n) {
  std::vector<JoinHandle<int>> handles;
  handles.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) handles.push_back(spawn(one));
  long sum = 0;
  for (auto& handle : handles) sum += co_await handle;
  co_return sum;
}
void spawn_million(benchmark::State& state) {
  constexpr int tasks = 1'000'000;
  const ThreadPool pool(workers(state));
  for (auto _ : state) benchmark::DoNotOptimize(block_on(pool.spawn(spawn_all, tasks)));
  state.SetItemsProcessed(state.iterations() * tasks);
}
BENCHMARK(spawn_million)->Arg(1)->Arg(2)->UseRealTime();

Async<void> yield_times(int n) {
  for (int i = 0; i < n; ++i) co_await yield_now();
}
Async<void> yield_all(int tasks, int yields) {
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < tasks; ++i) handles.push_back(spawn(yield_times, yields));
  for (auto& handle : handles) co_await handle;
}
void yield_thousand(benchmark::State& state) {
  constexpr int tasks = 1000;
  constexpr int yields = 1000;
  const ThreadPool pool(workers(state));
  for (auto _ : state) block_on(pool.spawn(yield_all, tasks, yields));
  state.SetItemsProcessed(state.iterations() * tasks * yields);
}
BENCHMARK(yield_thousand)->Arg(1)->Arg(2)->UseRealTime();

/// A value sent once, then taken: the least that works, until there is sync::oneshot. Once the
/// value was taken it may be used again.
class Oneshot {
 public:
  Oneshot() = default;
  void send(int value) {
    value_ = value;
    if (state_.exchange(sent, std::memory_order_acq_rel) == waiting) std::move(waker_).wake();
  }
  Poll<int> poll(Context& cx) {
    if (state_.load(std::memory_order_acquire) == sent) return take();
    waker_ = cx.waker();
    int expected = empty;
    if (state_.compare_exchange_strong(expected, waiting, std::memory_order_acq_rel)) {
      return pending;
    }
    return take();
  }

 private:
  Poll<int> take() {
    state_.store(empty, std::memory_order_relaxed);
    return Poll<int>::ready(value_);
  }

  static constexpr int empty = 0;
  static constexpr int waiting = 1;
  static constexpr int sent = 2;
  std::atomic<int> state_{empty};
  int value_ = 0;
  Waker waker_;
};
class Receive {
 public:
  using Output = int;
  explicit Receive(Oneshot& from) noexcept : from_(from) {}
  Poll<int> poll(Context& cx) { return from_.poll(cx); }

 private:
  Oneshot& from_;
};

struct Table {
  Oneshot ping;
  Oneshot pong;
};
Async<void> ponger(Table* table, int n) {
  for (int i = 0; i < n; ++i) table->pong.send(co_await Receive(table->ping));
}
Async<void> ping_pong_times(int n) {
  Table table;
  auto pong = spawn(ponger, &table, n);
  for (int i = 0; i < n; ++i) {
    table.ping.send(i);
    benchmark::DoNotOptimize(co_await Receive(table.pong));
  }
  co_await pong;
}
void ping_pong(benchmark::State& state) {
  constexpr int rounds = 200'000;
  const ThreadPool pool(workers(state));
  for (auto _ : state) block_on(pool.spawn(ping_pong_times, rounds));
  state.SetItemsProcessed(state.iterations() * rounds);
}
BENCHMARK(ping_pong)->Arg(1)->Arg(2)->UseRealTime();

}  // namespace
