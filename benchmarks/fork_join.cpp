// What fork/join costs: `parallel` with nobody stealing against a plain await, and on a ThreadPool.
#include <cstddef>
#include <tuple>
#include <utility>

#include <benchmark/benchmark.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/fork_deque.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/thread_pool.hpp"

namespace {

using namespace rouse;

Async<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await parallel(fib(n - 1), fib(n - 2));
  co_return a + b;
}
Async<long> await_fib(int n) {
  if (n < 2) co_return n;
  const long a = co_await await_fib(n - 1);
  co_return a + co_await await_fib(n - 2);
}
constexpr long calls_of_fib(int n) {
  return n < 2 ? 1 : 1 + calls_of_fib(n - 1) + calls_of_fib(n - 2);
}

Async<long> skynet(long first, long size) {
  if (size == 1) co_return first;
  const long step = size / 10;
  const auto sums = co_await [&]<std::size_t... I>(std::index_sequence<I...>) {
    return parallel(skynet(first + static_cast<long>(I) * step, step)...);
  }(std::make_index_sequence<10>());
  co_return std::apply([](auto... sum) { return (sum + ...); }, sums);
}
constexpr long tasks_of_skynet(long size) {
  return size == 1 ? 1 : 1 + 10 * tasks_of_skynet(size / 10);
}

template <class Make>
void run(benchmark::State& state, const Make& make, long calls) {
  ForkDeque forks;
  for (auto _ : state) {
    Context cx(Waker::noop(), Context::task_budget, &forks);
    auto future = make();
    benchmark::DoNotOptimize(future.poll(cx).value());
  }
  state.SetItemsProcessed(state.iterations() * calls);
}

constexpr int fib_of = 27;

void sequential_fib(benchmark::State& state) {
  run(state, [] { return await_fib(fib_of); }, calls_of_fib(fib_of));
}
BENCHMARK(sequential_fib);

void parallel_fib_one_worker(benchmark::State& state) {
  run(state, [] { return fib(fib_of); }, calls_of_fib(fib_of));
}
BENCHMARK(parallel_fib_one_worker);

void parallel_skynet_one_worker(benchmark::State& state) {
  constexpr long leaves = 1'000'000;
  run(state, [] { return skynet(0, leaves); }, tasks_of_skynet(leaves));
}
BENCHMARK(parallel_skynet_one_worker);

// --- On a ThreadPool of one and of two workers. ---

template <class Make>
void run_on_pool(benchmark::State& state, const Make& make, long calls) {
  ThreadPoolConfig config;
  config.workers = static_cast<std::size_t>(state.range(0));
  const ThreadPool pool(std::move(config));
  for (auto _ : state) benchmark::DoNotOptimize(block_on(pool.spawn(make())));
  state.SetItemsProcessed(state.iterations() * calls);
}

void pool_fib(benchmark::State& state) {
  constexpr int n = 32;  // long enough that starting and joining the work does not count
  run_on_pool(state, [] { return fib(n); }, calls_of_fib(n));
}
BENCHMARK(pool_fib)->Arg(1)->Arg(2)->UseRealTime();

void pool_skynet(benchmark::State& state) {
  constexpr long leaves = 1'000'000;
  run_on_pool(state, [] { return skynet(0, leaves); }, tasks_of_skynet(leaves));
}
BENCHMARK(pool_skynet)->Arg(1)->Arg(2)->UseRealTime();

}  // namespace
