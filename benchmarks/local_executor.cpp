// What tasks cost on a LocalExecutor: spawn and join, yield, bytes of an idle task.
#include "rouse/exec/local_executor.hpp"

#include <benchmark/benchmark.h>

#include "rouse/base/block_pool.hpp"
#include "rouse/core/async.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"

namespace {

using namespace rouse;

constexpr int batch = 1000;

/// A task whose one coroutine is suspended: header, frame and the executor's table. The first
/// benchmark here, because later ones leave blocks in the pool.
Async<void> idle() { co_await pending_forever<void>(); }
void bytes_per_idle_task(benchmark::State& state) {
  constexpr int tasks = 200'000;
  double bytes = 0;
  for (auto _ : state) {
    LocalExecutor executor;
    const std::size_t before = block_pool_bytes();
    for (int i = 0; i < tasks; ++i) executor.spawn(idle).detach();
    executor.run_until(yield_now());
    bytes = static_cast<double>(block_pool_bytes() - before) / tasks + sizeof(void*);
  }
  state.counters["bytes"] = bytes;
}
BENCHMARK(bytes_per_idle_task)->Iterations(1);

Async<int> one() { co_return 1; }

/// Each task is spawned and joined before the next.
Async<long> spawn_and_join(int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += co_await spawn(one);
  co_return sum;
}
void spawn_join(benchmark::State& state) {
  LocalExecutor executor;
  for (auto _ : state) benchmark::DoNotOptimize(executor.run_until(spawn_and_join(batch)));
  state.SetItemsProcessed(state.iterations() * batch);
}
BENCHMARK(spawn_join);

/// All tasks are spawned, then all run.
Async<void> spawn_many(int n) {
  for (int i = 0; i < n; ++i) spawn(one).detach();
  co_return;
}
void spawn_detached(benchmark::State& state) {
  LocalExecutor executor;
  for (auto _ : state) {
    executor.spawn(spawn_many, static_cast<int>(state.range(0))).detach();
    executor.run();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(spawn_detached)->Arg(1000)->Arg(1000000);

Async<void> yield_times(int n) {
  for (int i = 0; i < n; ++i) co_await yield_now();
}
void yield(benchmark::State& state) {
  constexpr int yields = 1000;
  const auto tasks = static_cast<int>(state.range(0));
  LocalExecutor executor;
  for (auto _ : state) {
    for (int i = 0; i < tasks; ++i) executor.spawn(yield_times, yields).detach();
    executor.run();
  }
  state.SetItemsProcessed(state.iterations() * tasks * yields);
}
BENCHMARK(yield)->Arg(1)->Arg(1000);

}  // namespace
