// What waiting for each other costs tasks on a ThreadPool of one and of two workers: messages
// through a channel, and a mutex that goes from task to task.
#include <cstdint>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/mutex.hpp"

namespace {

using namespace rouse;

ThreadPoolConfig workers(benchmark::State& state) {
  ThreadPoolConfig config;
  config.workers = static_cast<std::size_t>(state.range(0));
  return config;
}

constexpr int messages = 1'000'000;

template <class Tx>
Async<void> send_numbers(Tx tx, int n) {
  for (int i = 0; i < n; ++i) (void)co_await tx.send(i);
}
Async<std::int64_t> sum_up(sync::Receiver<std::int64_t> rx) {
  std::int64_t sum = 0;
  while (auto number = co_await rx.recv()) sum += *number;
  co_return sum;
}

/// Over a new channel that `make` gives.
template <class Make>
Async<std::int64_t> many_to_one(Make make, int senders) {
  auto [tx, rx] = make();
  auto sum = spawn(sum_up, std::move(rx));
  for (int i = 0; i < senders; ++i) {
    spawn(send_numbers<decltype(tx)>, tx, messages / senders).detach();
  }
  {
    const auto last = std::move(tx);
  }
  co_return co_await sum;
}
template <class Make>
void many_to_one_runs(benchmark::State& state, Make make) {
  const ThreadPool pool(workers(state));
  const int senders = static_cast<int>(state.range(1));
  for (auto _ : state) {
    benchmark::DoNotOptimize(block_on(pool.spawn(many_to_one<Make>, make, senders)));
  }
  state.SetItemsProcessed(state.iterations() * messages);
}

void mpsc(benchmark::State& state) {
  many_to_one_runs(state, [] { return sync::channel<std::int64_t>(1024); });
}
BENCHMARK(mpsc)->ArgsProduct({{1, 2}, {1, 4}})->ArgNames({"workers", "senders"})->UseRealTime();

void mpsc_unbounded(benchmark::State& state) {
  many_to_one_runs(state, [] { return sync::unbounded<std::int64_t>(); });
}
BENCHMARK(mpsc_unbounded)
    ->ArgsProduct({{1, 2}, {1, 4}})
    ->ArgNames({"workers", "senders"})
    ->UseRealTime();

Async<void> add_ones(sync::Mutex<std::int64_t>& total, int n) {
  for (int i = 0; i < n; ++i) {
    auto guard = co_await total.lock();
    *guard += 1;
  }
}
Async<std::int64_t> eight_tasks_add(int n) {
  sync::Mutex<std::int64_t> total(0);
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < 8; ++i) handles.push_back(spawn(borrowed(add_ones(total, n / 8))));
  for (auto& handle : handles) co_await handle;
  co_return *co_await total.lock();
}
void mutex(benchmark::State& state) {
  const ThreadPool pool(workers(state));
  for (auto _ : state) benchmark::DoNotOptimize(block_on(pool.spawn(eight_tasks_add, messages)));
  state.SetItemsProcessed(state.iterations() * messages);
}
BENCHMARK(mutex)->Arg(1)->Arg(2)->ArgName("workers")->UseRealTime();

}  // namespace
