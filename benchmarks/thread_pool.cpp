// What tasks cost on a ThreadPool of one and of two workers: spawn and join, a million spawned,
// yield, ping-pong.
#include "rouse/exec/thread_pool.hpp"

#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/sync/oneshot.hpp"

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

/// Goes back and forth; each time with where the answer is to go.
struct Ball {
  Ball(int n, sync::OneshotSender<Ball> to) : number(n), reply(std::move(to)) {}
  int number;
  sync::OneshotSender<Ball> reply;
};
Async<void> play(sync::OneshotReceiver<Ball> incoming) {
  while (auto ball = co_await incoming) {
    if (ball->number == 0) co_return;
    auto [reply, next] = sync::oneshot<Ball>();
    (void)ball->reply.send(Ball(ball->number - 1, std::move(reply)));
    incoming = std::move(next);
  }
}
Async<void> ping_pong_times(int n) {
  auto [serve, first] = sync::oneshot<Ball>();
  auto [reply, answer] = sync::oneshot<Ball>();
  auto other = spawn(play, std::move(first));
  (void)serve.send(Ball(2 * n - 1, std::move(reply)));
  co_await play(std::move(answer));
  co_await other;
}
void ping_pong(benchmark::State& state) {
  constexpr int rounds = 200'000;
  const ThreadPool pool(workers(state));
  for (auto _ : state) block_on(pool.spawn(ping_pong_times, rounds));
  state.SetItemsProcessed(state.iterations() * rounds);
}
BENCHMARK(ping_pong)->Arg(1)->Arg(2)->UseRealTime();

}  // namespace
